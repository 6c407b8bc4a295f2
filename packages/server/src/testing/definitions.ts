import type { Json, JsonObject } from '@weft/protocol';

/** Workflows the tests run: one that ends at once, one that waits, one that fails, one with a few nodes. */

export function workflow(id: string, nodes: Json[], variables: Json[] = []): JsonObject {
  return {
    id,
    name: id,
    version: '1.0',
    nodes,
    edges: [],
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables,
    metadata: { tags: ['test'] },
    settings: { timeout: 60_000 },
  };
}

export function node(id: string, typeId: string, inputs: JsonObject = {}): JsonObject {
  return { id, typeId, name: id, position: { x: 0, y: 0 }, config: {}, inputs };
}

const delayMs: JsonObject = { delayMs: { type: 'variable', variableName: 'delayMs' } };
const thirtySeconds: JsonObject = { name: 'delayMs', type: 'number', required: false, defaultValue: 30_000 };

export const NOOP = workflow('noop', [node('noop', 'core.noop')]);
export const WAIT = workflow('wait', [node('wait', 'core.delay', delayMs)], [thirtySeconds]);
export const FAIL = workflow('fail', [node('fail', 'core.fail')]);
export const STEPS = workflow(
  'steps',
  [node('a', 'core.noop'), node('b', 'core.delay', delayMs), node('c', 'core.noop')],
  [thirtySeconds],
);
/** Writes a sensitive variable, and its length, which it declares not to be, then waits: a fold must know what is masked. */
export const SECRET = workflow(
  'secret',
  [
    { ...node('set', 'core.setVariable'), config: { name: 'token', value: 'top-secret-value' } },
    {
      ...node('use', 'core.setVariable'),
      config: { name: 'length', expression: 'size(variables.token)' },
    },
    node('wait', 'core.delay', delayMs),
  ],
  [
    thirtySeconds,
    { name: 'token', type: 'string', sensitive: true },
    { name: 'length', type: 'number', sensitive: false },
  ],
);

const gate = (id: string, config: JsonObject): JsonObject =>
  workflow(id, [{ ...node('gate', 'core.approvalGate'), config }]);

/** Workflows that wait for people, or for events. */
export const QUESTIONS: readonly JsonObject[] = [
  gate('gate', { title: 'Ship it?' }),
  gate('keyed-gate', { profile: 'openwop-interrupt-auth-required' }),
  gate('quorum', { requiredApprovals: 3 }),
  gate('listed', { approversList: ['ada'] }),
  workflow('event', [
    {
      ...node('wait', 'core.interrupt'),
      config: { kind: 'external-event', data: { eventType: 'paid', correlation: { order: 1 } } },
    },
  ]),
];
