import { randomBytes } from 'node:crypto';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { EffectContext, Egress, OutputChunk } from '../../model/node-type.ts';
import { createCommitter } from '../../runtime/commits/committer.ts';
import type { EffectPlace, EffectPorts } from '../../ports/effect-ports.ts';
import { DEFAULT_LIMITS } from '../../host/limits.ts';
import { SILENT } from '../../ports/log.ts';
import { NO_MODELS } from '../../ports/models.ts';
import { NO_PEERS } from '../../ports/peers.ts';
import { NO_TOOLS } from '../../ports/tools.ts';
import { createOpenEffectPorts } from '../../runtime/effects/open-effect-ports.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { RunUnit, Store } from '../../ports/store.ts';
import { NO_STREAMS } from '../../runtime/testing/no-streams.ts';

/** For tests: what the performer would hand to an effect, on a store in memory. */
export interface SampleEffect {
  readonly context: EffectContext;
  readonly ports: EffectPorts;
  readonly store: Store;
  /** Streamed so far. */
  readonly chunks: readonly OutputChunk[];
}

export interface SampleEffectOptions {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly egress?: Egress;
  readonly place?: Partial<EffectPlace>;
  readonly store?: Store;
}

const PLACE: EffectPlace = {
  tenant: 'default',
  principal: undefined,
  runId: '0190a000-0000-7000-8000-000000000001',
  epoch: 1,
  nodeKey: 'sample',
  nodeId: 'sample',
  attempt: 0,
  limits: {
    nodeExecutions: 100,
    runDurationMs: 0,
    concurrency: 8,
    maxPayloadBytes: DEFAULT_LIMITS.maxPayloadBytes,
    maxStateBytes: DEFAULT_LIMITS.maxStateBytes,
    loopIterations: 100,
    clarificationRounds: 3,
  },
};

const HELLO: Egress = {
  ...NO_STREAMS,
  fetch: async () => ({ status: 200, headers: {}, body: new TextEncoder().encode('hi') }),
};

/** The run that performs it, held. */
function heldRun({ runId, tenant, limits }: EffectPlace): RunUnit {
  const record: CreationRecord = {
    ...{
      runId,
      tenant,
      limits,
      createdAt: 0,
      workflowId: 'sample',
      workflowVersion: '1',
      definitionDigest: '',
    },
    ...{ inputs: {}, configurable: {}, tags: [], metadata: {}, transport: 'rest', engineVersion: 1 },
  };
  return {
    ...{ kind: 'run', batchId: 'sample', tenant, runId, epoch: 1, expectedSeq: 0, events: [] },
    create: { record, holder: 'sample', exclusiveScope: false },
    head: { status: 'running', wakeAt: 0 },
  };
}

export function sampleEffect(options: SampleEffectOptions = {}): SampleEffect {
  const store = options.store ?? openMemoryStore();
  const open = createOpenEffectPorts({
    store,
    committer: createCommitter({ store, log: SILENT, maxUnits: 512, maxBytes: 8 * 1024 * 1024 }),
    resolver: {
      async resolve(_owner, secretId) {
        const value = options.secrets?.[secretId];
        return value === undefined ? { state: 'missing' } : { state: 'resolved', value };
      },
    },
    models: NO_MODELS,
    tools: NO_TOOLS,
    peers: NO_PEERS,
    costs: {
      prices: () => Promise.resolve([]),
      tenantBreach: () => Promise.resolve(undefined),
      noteSpent: () => undefined,
    },
    prompts: { find: () => Promise.resolve(undefined) },
    operator: 'default',
    clock: { now: Date.now },
    random: randomBytes,
    limits: DEFAULT_LIMITS,
  });
  const place = { ...PLACE, ...options.place };
  // At once: the store in memory writes before it answers.
  void store.commit([heldRun(place)]);
  const ports = open(place);
  const chunks: OutputChunk[] = [];
  const { signal } = new AbortController();
  const context: EffectContext = {
    invocationId: 'invocation-1',
    attempt: 0,
    signal,
    stop: signal,
    holdsClaim: () => true,
    egress: options.egress ?? HELLO,
    secrets: ports.secrets,
    models: ports.models,
    tools: ports.tools,
    peers: ports.peers,
    memory: ports.memory,
    artifacts: ports.artifacts,
    workflows: ports.workflows,
    prompts: ports.prompts,
    emit: (chunk) => chunks.push(ports.hideChunk(chunk)),
    tellReasoning: () => undefined,
  };
  return { context, ports, store, chunks };
}
