import type { JsonObject } from '@weft/protocol';
import { answered } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY } from '../../mutants/targets.ts';

function wasm(rest: JsonObject) {
  return answered((body) => ({
    ...body,
    nodePackRuntimes: { wasm: { supported: true, abiVersions: [1], maxMemoryBytes: 134_217_728, ...rest } },
  }));
}

const SEARCH = { method: 'GET', path: /^\/v1\/packs\/-\/search/ } as const;

/** A search that is answered, in front of whatever the host does about packs. */
function searched(status: number, body: JsonObject): Pick<Mutant, 'request'> {
  const headers = { 'content-type': 'application/json' };
  return { request: () => ({ instead: { status, headers, body: JSON.stringify(body) } }) };
}

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
];
