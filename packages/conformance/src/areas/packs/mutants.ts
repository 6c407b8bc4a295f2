import type { JsonObject } from '@weft/protocol';
import {
  answered,
  eachEvent,
  payloads,
  refusal,
  replyWith,
  run,
  withoutEvents,
} from '../../mutants/answers.ts';
import type { Mutant, MutantMemory, ProxiedAnswer, ProxiedRequest } from '../../mutants/mutant.ts';
import { CREATE, DISCOVERY, POLL, SNAPSHOT } from '../../mutants/targets.ts';
import { REFUSED_AGENTS } from './agents.ts';
import { REFUSED } from './publishing.ts';

function wasm(rest: JsonObject) {
  return answered((body) => ({
    ...body,
    nodePackRuntimes: { wasm: { supported: true, abiVersions: [1], maxMemoryBytes: 134_217_728, ...rest } },
  }));
}

const PACKS = { path: /^\/v1\/packs/ } as const;
const SEARCH = { method: 'GET', path: /^\/v1\/packs\/-\/search/ } as const;

/** A search that is answered, in front of whatever the host does about packs. */
function searched(status: number, body: JsonObject): Pick<Mutant, 'request'> {
  const headers = { 'content-type': 'application/json' };
  return { request: () => ({ instead: { status, headers, body: JSON.stringify(body) } }) };
}

const ALL_REFUSED = { ...REFUSED, ...REFUSED_AGENTS };

export const PACKS_MUTANTS: readonly Mutant[] = [
  {
    id: 'packs/no-abi-version',
    breaks: 'a host runs WASM packs of an ABI that does not exist',
    caughtBy: ['packs/wasm-discovery'],
    says: /abiVersions has 1/,
    on: DISCOVERY,
    answer: wasm({ abiVersions: [2] }),
  },
  {
    id: 'packs/abi-version-as-text',
    breaks: 'the versions of the ABI are texts',
    caughtBy: ['packs/wasm-discovery'],
    says: /an entry of abiVersions is an integer/,
    on: DISCOVERY,
    answer: wasm({ abiVersions: ['1'] }),
  },
  {
    id: 'packs/memory-in-pages',
    breaks: 'the memory is advertised in pages',
    caughtBy: ['packs/wasm-discovery'],
    says: /maxMemoryBytes is from 1 MiB to 8 GiB/,
    on: DISCOVERY,
    answer: wasm({ maxMemoryBytes: 2_048 }),
  },
  {
    id: 'packs/results-without-names',
    breaks: 'a search finds packs without names',
    caughtBy: ['packs/registry-reads'],
    says: /a result has the name of a pack/,
    on: SEARCH,
    ...searched(200, { results: [{ name: 'Hello' }] }),
  },
  {
    id: 'packs/unknown-pack-as-text',
    breaks: 'a registry answers for packs that it does not have without an envelope',
    caughtBy: ['packs/registry-reads'],
    says: /envelope|JSON|object/,
    on: SEARCH,
    ...searched(200, { results: [] }),
  },
  {
    id: 'packs/greets-the-default',
    breaks: 'a WASM node does not get the inputs of the run',
    caughtBy: ['packs/wasm-invoke'],
    says: /the output greets who is named/,
    on: CREATE,
    request: (request) => ({ ...request, body: request.body.replace(/"inputs":\{[^}]*\}/, '"inputs":{}') }),
  },
  {
    id: 'packs/output-not-in-the-log',
    breaks: 'the output of a WASM node is not in the log',
    caughtBy: ['packs/wasm-invoke'],
    says: /the output greets who is named/,
    on: POLL,
    answer: payloads('node.completed', ({ nodeId }) => ({ nodeId: nodeId ?? null })),
  },
  {
    id: 'packs/fails-for-another-reason',
    breaks: 'a WASM node fails, and does not say that the host cannot wait',
    caughtBy: ['packs/wasm-suspension'],
    says: /the run completes, or fails with/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['status'] === 'completed' ? { ...snapshot, status: 'failed' } : snapshot,
    ),
  },
  {
    id: 'packs/greets-by-the-clock',
    breaks: 'equal inputs of a WASM node give different outputs',
    caughtBy: ['packs/wasm-determinism'],
    says: /a second run has the same output/,
    on: POLL,
    answer: eachEvent((event, memory) =>
      event['type'] === 'node.completed' ? withStamp(event, memory) : event,
    ),
  },
  {
    id: 'packs/failure-without-cap',
    breaks: 'a module that takes too much memory fails without cap.breached',
    caughtBy: ['packs/wasm-memory-cap'],
    says: /cap\.breached of the kind wasm-memory stands before the failure/,
    on: POLL,
    answer: withoutEvents('cap.breached'),
  },
  ...Object.keys(REFUSED).map((word) => takesIn(word, 'packs/refused-publications')),
  ...Object.keys(REFUSED_AGENTS).map((word) => takesIn(word, 'packs/refused-agents')),
  {
    id: 'packs/version-overwritten',
    breaks: 'a version that was published is replaced by another one',
    caughtBy: ['packs/published-versions'],
    says: /409/,
    on: PACKS,
    request: (request, memory) => ({ instead: keptPack(request, memory, 200) }),
  },
  {
    id: 'packs/deprecated-in-silence',
    breaks: 'a deprecated version does not say that it is',
    caughtBy: ['packs/published-versions'],
    says: /a deprecated version says so/,
    on: PACKS,
    request: (request, memory) => ({ instead: keptPack(request, memory, 409) }),
  },
  {
    id: 'packs/agents-not-listed',
    breaks: 'a pack that brings agents is listed as one without',
    caughtBy: ['packs/listed-agents'],
    says: /listed with agents/,
    on: PACKS,
    request: (request, memory) => ({ instead: listedPack(request, memory, {}) }),
  },
  {
    id: 'packs/agents-of-another-name',
    breaks: 'a pack is listed with an agent that it does not bring',
    caughtBy: ['packs/listed-agents'],
    says: /the agentId of its manifest/,
    on: PACKS,
    request: (request, memory) => ({
      instead: listedPack(request, memory, { agents: [{ agentId: 'vendor.another.pack.sorter' }] }),
    }),
  },
  {
    id: 'packs/exports-names-alone',
    breaks: 'an export of agents has their ids alone',
    caughtBy: ['packs/exported-agents'],
    says: /a manifest of an agent has persona/,
    on: { method: 'GET', path: /^\/v1\/packs\/export$/ },
    request: () => ({ instead: replyWith(200, { manifests: [{ agentId: 'vendor.a.b.c' }] }) }),
  },
];

function withStamp(event: JsonObject, memory: MutantMemory): JsonObject {
  const stamp = Number(memory.get('stamp') ?? 0) + 1;
  memory.set('stamp', stamp);
  return { ...event, payload: { stamp } };
}

/** A registry that refuses as it should, but takes in what is wrong in this way. */
function takesIn(word: string, check: string): Mutant {
  return {
    id: `packs/takes-in-${word}`,
    breaks: `a registry takes in what is refused with ${String(ALL_REFUSED[word]?.codes[0])}`,
    caughtBy: [check],
    says: /status|envelope|400/,
    on: PACKS,
    request: ({ method, path }) => ({ instead: registryAnswer(method, path, word) }),
  };
}

function registryAnswer(method: string, path: string, word: string): ProxiedAnswer {
  if (path.includes('/-/search')) return replyWith(200, { results: [] });
  if (method !== 'PUT') return refusal(404, 'pack_not_found');
  const named = /\.([a-z]+)\/-\//.exec(path)?.[1] ?? '';
  if (named === word) return replyWith(201, {});
  return refusal(400, ALL_REFUSED[named]?.codes[0] ?? 'invalid_body');
}

/** A registry that keeps one version, and says of it nothing but that it is there. How the third publication is answered is given. */
function keptPack({ method, path }: ProxiedRequest, memory: MutantMemory, third: number): ProxiedAnswer {
  if (path.includes('/-/search')) return replyWith(200, { results: [] });
  if (path.includes('.probe/')) return refusal(400, 'invalid_body');
  if (method === 'GET') return replyWith(200, { versions: { '1.0.0': {} } });
  if (method !== 'PUT') return replyWith(200, {});
  const times = Number(memory.get(path) ?? 0);
  memory.set(path, times + 1);
  if (times < 2) return replyWith(times === 0 ? 201 : 200, {});
  return third === 409 ? refusal(409, 'version_conflict') : replyWith(third, {});
}

/** A registry that keeps the pack that was published last, and lists it with these members. */
function listedPack(
  { method, path }: ProxiedRequest,
  memory: MutantMemory,
  members: JsonObject,
): ProxiedAnswer {
  if (path.includes('/-/search')) return replyWith(200, { results: [] });
  if (path.includes('.probe/')) return refusal(400, 'invalid_body');
  if (method === 'PUT') memory.set('name', /packs\/([^/]+)/.exec(path)?.[1] ?? '');
  if (method !== 'GET') return replyWith(201, {});
  return replyWith(200, { packs: [{ name: memory.get('name') ?? '', ...members }] });
}
