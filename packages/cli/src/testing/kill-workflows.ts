import type { JsonObject } from '@weft/protocol';

/** What the clients of the kill test run. Every node whose name begins with `call` calls the counting server once. */
export function killWorkflows(worldPort: number): JsonObject[] {
  return [
    mixedWorkflow(worldPort),
    gateWorkflow(worldPort),
    parentWorkflow(worldPort),
    childWorkflow(worldPort),
    dispatchWorkflow(worldPort),
    ...WORKERS.map((name) => workflow(`kill-${name}`, [callNode(`call-${name}`, worldPort)], [])),
    streamWorkflow(),
    agentWorkflow(),
  ];
}

/** Pieces of text that the streaming workflow's model answers with. */
export const TOKENS = Array.from({ length: 12 }, (_, index) => `piece ${index}, `);

const WORKERS = ['worker-a', 'worker-b'];

const place = { position: { x: 0, y: 0 } };

function callNode(id: string, worldPort: number): JsonObject {
  return {
    id,
    typeId: 'core.http.request',
    name: id,
    ...place,
    config: { url: `http://127.0.0.1:${worldPort}/`, method: 'POST' },
    inputs: { body: { type: 'expression', expression: `{"tag": variables.tag, "node": "${id}"}` } },
    settings: { retry: { maxAttempts: 5, initialMs: 20 } },
  };
}

function plainNode(id: string, typeId: string, config: JsonObject = {}): JsonObject {
  return { id, typeId, name: id, ...place, config, inputs: {} };
}

function workflow(id: string, nodes: JsonObject[], edges: [string, string][]): JsonObject {
  return {
    id,
    name: id,
    version: '1.0',
    nodes,
    edges: edges.map(([from, to]) => ({ id: `${from}-${to}`, sourceNodeId: from, targetNodeId: to })),
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [{ name: 'tag', type: 'string', required: true }],
    metadata: {},
    settings: {},
  };
}

/** Effects side by side, a delay, a join, another effect. */
function mixedWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-mixed',
    [
      plainNode('begin', 'core.noop'),
      callNode('call-a', worldPort),
      callNode('call-b', worldPort),
      plainNode('wait', 'core.delay', { ms: 15 }),
      plainNode('note', 'core.setVariable', { name: 'note', value: 'joined' }),
      callNode('call-c', worldPort),
      plainNode('end', 'core.noop'),
    ],
    [
      ['begin', 'call-a'],
      ['begin', 'call-b'],
      ['begin', 'wait'],
      ['call-a', 'note'],
      ['call-b', 'note'],
      ['wait', 'note'],
      ['note', 'call-c'],
      ['call-c', 'end'],
    ],
  );
}

/** Waits for a person between two effects. */
function gateWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-gate',
    [
      callNode('call-before', worldPort),
      plainNode('gate', 'core.approvalGate'),
      callNode('call-after', worldPort),
    ],
    [
      ['call-before', 'gate'],
      ['gate', 'call-after'],
    ],
  );
}

/** A child run between two effects. */
function parentWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-parent',
    [
      callNode('call-before', worldPort),
      plainNode('sub', 'core.subWorkflow', {
        workflowId: 'kill-child',
        inputMapping: { tag: 'tag' },
        outputMapping: { note: 'note' },
      }),
      callNode('call-after', worldPort),
    ],
    [
      ['call-before', 'sub'],
      ['sub', 'call-after'],
    ],
  );
}

/** The child: an effect, then a person, then a variable for its parent. */
function childWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-child',
    [
      callNode('call-child', worldPort),
      plainNode('gate', 'core.approvalGate'),
      plainNode('note', 'core.setVariable', { name: 'note', value: 'from the child' }),
    ],
    [
      ['call-child', 'gate'],
      ['gate', 'note'],
    ],
  );
}

/** Two workers one after the other, back to the supervisor, an end. */
function dispatchWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-dispatch',
    [
      plainNode('sup', 'core.orchestrator.supervisor', {
        mockDecisions: [
          { kind: 'next-worker', nextWorkerIds: WORKERS.map((name) => `kill-${name}`) },
          { kind: 'terminate' },
        ],
      }),
      plainNode('dis', 'core.dispatch', { inputMapping: { tag: 'tag' } }),
      callNode('call-last', worldPort),
    ],
    [
      ['sup', 'dis'],
      ['dis', 'sup'],
      ['dis', 'call-last'],
    ],
  );
}

/** Turns that the agent takes. Its model calls a tool in each that there is not, and so no one is asked. */
export const AGENT_TURNS = 6;

function agentWorkflow(): JsonObject {
  const config = { instructions: 'Continue.', prompt: 'Begin.', stopWhen: `outputs.turns >= ${AGENT_TURNS}` };
  return workflow('kill-agent', [plainNode('agent', 'weft.ai.agent', config)], []);
}

function streamWorkflow(): JsonObject {
  return workflow('kill-stream', [plainNode('speak', 'core.ai.callPrompt', { prompt: 'Speak.' })], []);
}
