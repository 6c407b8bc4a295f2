import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { compile, edge, errorsOf, node, workflow } from './testing/compile-testing.ts';

const channels = { log: { reducer: 'append' } };
const trigger = (rest: JsonObject = {}): JsonObject => ({
  id: 't',
  type: 'channel-write',
  nodeId: 'b',
  config: { channel: 'log' },
  ...rest,
});
const defined = (triggers: JsonObject[], edges = [edge('e', 'a', 'c')]): JsonObject =>
  workflow([node('a'), node('b'), node('c')], edges, { channels, triggers });

describe('a channel-write trigger', () => {
  it('is served: it gives no warning and stands in the plan', () => {
    const definition = defined([trigger({ config: { channel: 'log', onlyFrom: 'child', debounceMs: 5 } })]);

    expect(compile(definition).warnings).toEqual([]);
    expect(compile(definition).plan?.triggers.get('b')).toMatchObject({
      nodeId: 'b',
      channels: [{ channel: 'log', onlyFrom: 'child', debounceMs: 5 }],
      again: ['b'],
    });
  });

  it.each<[string, JsonObject]>([
    ['unknown_channel /triggers/0/config/channel', { config: { channel: 'x' } }],
    ['trigger_config /triggers/0/config/chanel', { config: { channel: 'log', chanel: 'log' } }],
    ['trigger_config /triggers/0/config/debounceMs', { config: { channel: 'log', debounceMs: 60_001 } }],
    ['trigger_config /triggers/0/config/onlyFrom', { config: { channel: 'log', onlyFrom: 'me' } }],
    ['unknown_node /triggers/0/nodeId', { nodeId: 'x' }],
    ['triggered_node_has_edges /triggers/0/nodeId', { nodeId: 'c' }],
  ])('is refused with %s', (problem, rest) => {
    expect(errorsOf(defined([trigger(rest)]))).toEqual([problem]);
  });

  it('needs the workflow to have edges: without any, all nodes run in their order', () => {
    expect(errorsOf(defined([trigger()], []))).toEqual(['triggered_node_has_edges /triggers/0/nodeId']);
  });

  it('that is not enabled is as if it were not there', () => {
    const definition = defined([trigger({ enabled: false, config: {} })]);

    expect(compile(definition).plan?.triggers.size).toBe(0);
  });

  it('cannot have a loop done again and again', () => {
    const loop = node('l', { typeId: 'core.loop', config: { body: ['c'], while: 'true', maxIterations: 2 } });
    const definition = workflow([node('b'), loop, node('c')], [edge('e', 'b', 'l')], {
      channels,
      triggers: [trigger()],
    });

    expect(errorsOf(definition)).toEqual(['loop_behind_trigger /nodes/1']);
  });
});
