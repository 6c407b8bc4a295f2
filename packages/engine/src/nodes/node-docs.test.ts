import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { createHost } from '../host/create-host.ts';
import { openMemoryStore } from '../memory-store/memory-store.ts';
import { CONFORMANCE, CONFORMANCE_ONLY } from '../conformance/index.ts';
import { BUILTIN_NODE_TYPES } from './index.ts';
import { NODE_DOCS } from './node-docs.ts';

const ALL_TYPES = [...BUILTIN_NODE_TYPES, ...CONFORMANCE_ONLY];

const node = (id: string, typeId: string, rest: JsonObject = {}): JsonObject => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config: {},
  inputs: {},
  ...rest,
});

/** A workflow in which the example may stand: with what it names. */
function around(typeId: string): JsonObject {
  const { example } = NODE_DOCS[typeId] ?? { example: { config: {} } };
  const nodes = [node('sample', typeId, { ...example })];
  if (typeId === 'core.loop') nodes.push(node('inside', 'core.noop'));
  if (typeId === 'core.dispatch')
    nodes.unshift(
      node('decides', 'core.orchestrator.supervisor', {
        config: { mockDecisions: [{ kind: 'terminate' }] },
      }),
    );
  return {
    id: 'conformance-sample',
    name: 'Sample',
    version: '1.0.0',
    nodes,
    edges: [],
    triggers: [],
    variables: ['amount', 'total']
      .map((name) => ({ name, type: 'number' }))
      .concat(['topic', 'city', 'hotel', 'room'].map((name) => ({ name, type: 'string' }))),
    channels: { lengths: { reducer: 'append' } },
    metadata: {},
    settings: {},
  };
}

describe('the reference of node types', () => {
  it('has every type, and no other', () => {
    expect(Object.keys(NODE_DOCS).sort()).toEqual(ALL_TYPES.map(({ typeId }) => typeId).sort());
  });

  it.each(ALL_TYPES.map((type) => [type.typeId, type] as const))(
    'explains every field of the config of %s, and its ports',
    (typeId, { config, branches = [] }) => {
      const { properties = {} } = config as { properties?: Record<string, unknown> };

      expect(Object.keys(NODE_DOCS[typeId]?.config ?? {}).sort()).toEqual(Object.keys(properties).sort());
      expect(Object.keys(NODE_DOCS[typeId]?.outputs ?? {})).toEqual(expect.arrayContaining([...branches]));
    },
  );

  it.each(ALL_TYPES.map(({ typeId }) => typeId))('has an example of %s that registers', async (typeId) => {
    const host = createHost({ store: openMemoryStore(), version: '0', conformance: CONFORMANCE });

    expect((await host.workflows.check(around(typeId))).errors).toEqual([]);
  });
});
