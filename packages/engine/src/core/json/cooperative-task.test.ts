import { describe, expect, it } from 'vitest';
import { type CompileOptions, compileCooperatively, compileWorkflow } from '../compile/compile.ts';
import { edge, node, workflow } from '../compile/testing/compile-testing.ts';
import { createExpressionCompiler } from '../expressions/expressions.ts';
import { initialState } from '../fold/evolve.ts';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import type { CreationRecord, RunState } from '../../model/run-state.ts';
import { renderSnapshot, snapshotCooperatively } from '../fold/snapshot.ts';
import type { CooperativeTask } from './cooperative-task.ts';

const NODES = 2_000;

const options: CompileOptions = {
  digest: 'abc',
  nodeTypes: new Map(BUILTIN_NODE_TYPES.map((type) => [type.typeId, type])),
  expressions: createExpressionCompiler(),
  maxNodes: NODES,
  maskingDefault: 'mask',
  runtimeCapabilities: new Set(),
};

const id = (index: number): string => `n${index}`;

function chain(rest: (index: number) => Parameters<typeof node>[1] = () => ({})) {
  const nodes = Array.from({ length: NODES }, (_, index) => node(id(index), rest(index)));
  const edges = nodes.slice(1).map((_, index) => edge(`e${index}`, id(index), id(index + 1)));
  return workflow(nodes, edges);
}

function stepsOf<Result>(steps: CooperativeTask<Result>): { count: number; result: Result } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { count, result: step.value };
  }
}

describe('long work in steps', () => {
  it('compiles many nodes in more steps than there are nodes and edges', () => {
    const { count, result } = stepsOf(compileCooperatively(chain(), options));

    expect(count).toBeGreaterThan(2 * NODES);
    expect(result.plan?.nodes.size).toBe(NODES);
  });

  it('checks the connections between many nodes in many steps', () => {
    const far = chain((index) => ({
      inputs: index < 2 ? {} : { a: { type: 'connection', nodeId: id(index - 2), outputKey: 'output' } },
    }));
    const { count, result } = stepsOf(compileCooperatively(far, options));

    expect(count).toBeGreaterThan(2 * NODES + NODES / 31);
    expect(result.errors).toEqual([]);
  });

  it('says the same of a large definition as of a small one, wherever the mistake is', () => {
    const wrong = (index: number) => (index === NODES - 1 ? { nmae: 'x' } : {});
    const { errors } = compileWorkflow(chain(wrong), options);

    expect(errors).toEqual([expect.objectContaining({ path: `/nodes/${NODES - 1}/nmae`, code: 'schema' })]);
  });

  it('renders a run of many nodes in many steps, as it would be rendered in one', () => {
    const { plan } = compileWorkflow(chain(), options);
    if (plan === undefined) throw new Error('the chain does not compile');
    const record = recordOf();
    const state = initialState(record, plan);
    for (let index = 0; index < NODES; index++) addNode(state, index);

    const { count, result } = stepsOf(snapshotCooperatively(plan, record, state, { status: 'running' }));

    expect(count).toBeGreaterThan(NODES / 500);
    expect(Object.keys(result['nodeStates'] as object)).toHaveLength(NODES);
    expect(JSON.stringify(result)).toBe(
      JSON.stringify(renderSnapshot(plan, record, state, { status: 'running' })),
    );
    expect(JSON.stringify(result)).not.toContain('AKIAABCDEFGHIJKLMNOP');
  });
});

function addNode(state: RunState, index: number): void {
  state.nodes.set(id(index), {
    ...{ nodeId: id(index), typeId: 'core.noop', iteration: [], attempt: 0, failures: 0, seq: index },
    status: 'failed',
    ...(index === 777 && { error: { code: 'x', message: 'AKIAABCDEFGHIJKLMNOP' } }),
  });
}

function recordOf(): CreationRecord {
  return {
    runId: '018f0000-0000-7000-8000-000000000001',
    tenant: 't',
    workflowId: 'w',
    workflowVersion: '1',
    definitionDigest: 'abc',
    createdAt: 0,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    transport: 'rest',
    engineVersion: 1,
    limits: {
      maxNodeExecutions: NODES,
      maxDurationMs: 0,
      maxStateBytes: 1,
      maxPayloadBytes: 1,
      maxLoopIterations: 1,
      concurrency: 1,
    },
  } as unknown as CreationRecord;
}
