import fc from 'fast-check';
import { arbitraryWorkflow } from './arbitrary-workflow.ts';
import { chain, edge, node, type NodeSpec, type WorkflowSpec } from './definitions.ts';

interface Shape {
  readonly spec: WorkflowSpec;
  readonly writers: readonly ('effect' | 'delay' | 'none')[];
  readonly debounceMs: number;
  readonly behind: 'effect' | 'gate' | 'noop';
  /** What is behind the trigger starts another node, which writes back. */
  readonly echoes: boolean;
  readonly limit: number;
}

/** To be added to any workflow: writers, and nodes that start when they have written, with questions and effects behind them. */
export function arbitraryTriggers(): fc.Arbitrary<WorkflowSpec> {
  return fc
    .record({
      spec: arbitraryWorkflow(),
      writers: fc.array(fc.constantFrom('effect' as const, 'delay' as const, 'none' as const), {
        minLength: 1,
        maxLength: 4,
      }),
      debounceMs: fc.constantFrom(0, 0, 20, 500),
      behind: fc.constantFrom('effect' as const, 'gate' as const, 'noop' as const),
      echoes: fc.boolean(),
      limit: fc.constantFrom(2, 100),
    })
    .map(withTriggers);
}

const write = (id: string, channelName: string): NodeSpec =>
  node(id, 'core.channelWrite', { channelName, value: id });

function withTriggers({ spec, writers, debounceMs, behind, echoes, limit }: Shape): WorkflowSpec {
  const before = { effect: 'test.effect', delay: 'core.delay', none: 'core.noop' } as const;
  const after = { effect: 'test.effect', gate: 'core.approvalGate', noop: 'core.noop' } as const;
  const steps = writers.flatMap((kind, index) => [
    node(`x${index}`, before[kind], kind === 'delay' ? { ms: 30 } : {}),
    write(`y${index}`, 'log'),
  ]);
  const triggered = [
    node('t0', 'test.effect'),
    node('t1', after[behind]),
    write('t2', 'echo'),
    write('u0', 'log'),
  ];
  const trigger = (nodeId: string, channel: string, config = {}) => ({
    id: nodeId,
    type: 'channel-write',
    nodeId,
    config: { channel, ...config },
  });
  return {
    ...spec,
    nodes: [...spec.nodes, ...steps, ...triggered, node('join')],
    edges: [
      ...(spec.edges ?? []),
      ...chain(...steps.map(({ id }) => id)),
      ...chain('t0', 't1', 't2'),
      edge('t1', 'join', { rule: 'all_complete' }),
      edge('y0', 'join', { rule: 'all_complete' }),
    ],
    channels: { ...spec.channels, log: { reducer: 'append' }, echo: { reducer: 'append' } },
    triggers: [trigger('t0', 'log', { debounceMs }), ...(echoes ? [trigger('u0', 'echo')] : [])],
    settings: { ...spec.settings, maxLoopbackIterations: limit },
  };
}
