import { ALL_SCOPES } from '@weft/protocol';
import { Type } from 'typebox';
import { definition, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { createHost, type HostOptions } from '../../host/create-host.ts';
import type { Caller, Host, NewRun } from '../../host/host.ts';
import type { EffectContext, EffectInput, EffectNodeType, NodeResult } from '../../model/node-type.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import type { HostLimits } from '../../host/limits.ts';

/** Hosts for tests: a memory store, quick polls, and an effect whose outcomes the test decides. */

export const alice: Caller = {
  tenant: 'default',
  principal: 'alice',
  keyId: 'key-alice',
  kind: 'service',
  test: false,
  scopes: new Set(ALL_SCOPES),
};

export const stranger: Caller = { ...alice, tenant: 'other', principal: 'mallory', keyId: 'key-mallory' };

/** Quick polls; and no batch ends early because the machine is slow. */
export const QUICK: Partial<HostLimits> = { pollMs: 10, heartbeatMs: 20, batchMs: 60_000 };

const SECRETS_KEY = new Uint8Array(32).fill(42);

export interface Call {
  readonly input: EffectInput;
  readonly context: EffectContext;
  readonly succeed: (result?: Partial<NodeResult>) => void;
  readonly fail: (error: unknown) => void;
}

export interface Effects {
  readonly type: EffectNodeType;
  readonly calls: Call[];
}

/** Node type `test.effect`: each call waits in `calls` until the test ends it. */
export function createEffects(): Effects {
  const calls: Call[] = [];
  return {
    calls,
    type: {
      kind: 'effect',
      typeId: 'test.effect',
      title: 'Test effect',
      summary: 'Does what the test says.',
      config: Type.Object({}, { additionalProperties: true }),
      perform: (input, context) =>
        new Promise((resolve, reject) => {
          calls.push({
            input,
            context,
            succeed: (result = {}) => resolve({ outputs: { output: 'done' }, ...result }),
            fail: reject,
          });
        }),
    },
  };
}

export interface TestHost {
  readonly host: Host;
  readonly store: Store;
  readonly effects: Effects;
  /** Registers a workflow and returns its id. */
  register(spec: WorkflowSpec, id?: string): Promise<string>;
  run(workflowId: string, request?: Partial<NewRun>): Promise<string>;
  status(runId: string): Promise<string | undefined>;
  types(runId: string): Promise<string[]>;
}

export async function startHost(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const store =
    options.store ?? openMemoryStore(options.clock === undefined ? {} : { clock: options.clock.now });
  const effects = createEffects();
  const host = createHost({
    version: '0.0.0-test',
    nodes: [effects.type],
    secretsKey: SECRETS_KEY,
    ...options,
    store,
    limits: { ...QUICK, ...options.limits },
  });
  await host.start();
  return {
    host,
    store,
    effects,
    async register(spec, id = 'test-workflow') {
      await host.workflows.register(alice, { ...definition(spec), id }, { strict: false, dev: false });
      return id;
    },
    async run(workflowId, request = {}) {
      const accepted = await host.runs.create(alice, newRun(workflowId, request));
      if (accepted.replayed) throw new Error('a run without a key cannot be a replay');
      return accepted.runId;
    },
    status: async (runId) => (await host.runs.snapshot(alice, runId))?.snapshot.status,
    types: async (runId) => (await store.readEvents(runId, 0, 10_000, 1e9)).map((event) => event.type),
  };
}

export function newRun(workflowId: string, request: Partial<NewRun> = {}): NewRun {
  return {
    workflowId,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    exclusiveScope: false,
    ...request,
  };
}

const PATIENCE_MS = 10_000;

/** Waits until the condition holds. */
export async function until<Value>(condition: () => Value | Promise<Value>): Promise<NonNullable<Value>> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
