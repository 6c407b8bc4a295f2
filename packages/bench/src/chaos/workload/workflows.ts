import type { JsonObject } from '@weft/protocol';
import type { Random } from '../random.ts';
import { KEPT_PATH } from './external-service.ts';

/**
 * Random workflows of every feature. A workflow is a row of blocks; a block is a small graph with one way in and one way out.
 * Every node that begins with `call-` calls the service once per iteration, under a name that no other workflow uses; those that begin
 * with `task-` and `once-` do so on a worker.
 */
export interface ChaosWorkflows {
  /** Children first, so that they exist when their parents start them. */
  readonly definitions: readonly JsonObject[];
  /** Those that clients start. */
  readonly roots: readonly string[];
  /** Those whose interrupts are answered by the callback responder only. */
  readonly callbackWorkflows: readonly string[];
  /** They list what a memory holds. */
  readonly recalls: readonly string[];
  /** Does next to nothing. */
  readonly closing: string;
  /** How often each kind of block was used. */
  readonly features: Readonly<Record<string, number>>;
}

const MOST_BLOCKS = 4;
const CALLBACK_WORKFLOWS = 3;
/** The node type that workers serve. */
export const TASK_TYPE = 'chaos.task';
/** The name of the secret that nodes send along. */
export const SECRET_ID = 'chaos-key';
/** What a recall shows at most. */
export const RECALLED = 500;

export function chaosWorkflows(random: Random, count: number, servicePort: number): ChaosWorkflows {
  const definitions: JsonObject[] = [];
  const features: Record<string, number> = {};
  // A shuffled deck, so that few workflows already have every kind.
  let deck: BlockName[] = [];
  const roots = Array.from({ length: count }, (_, index) => {
    const id = `chaos-${index}`;
    const draft = newDraft(id, random, servicePort);
    // A first node hands the run's inputs on; one without outputs keeps them to itself.
    append(draft, single(add(draft, 'begin', 'core.noop')));
    const size = random.int(2, MOST_BLOCKS);
    for (let block = 0; block < size; block += 1) {
      if (deck.length === 0) deck = random.shuffle(BLOCK_NAMES);
      const name = deck.pop() ?? 'call';
      features[name] = (features[name] ?? 0) + 1;
      append(draft, BLOCKS[name](draft));
    }
    definitions.push(...draft.children, definitionOf(draft));
    return id;
  });
  const callbackWorkflows = Array.from({ length: CALLBACK_WORKFLOWS }, (_, index) => {
    const draft = newDraft(`chaos-back-${index}`, random, servicePort);
    append(draft, BLOCKS.call(draft));
    // One vote: that of the link.
    append(draft, single(add(draft, CALLBACK_GATE, 'core.approvalGate')));
    if (index > 0) append(draft, BLOCKS.memory(draft));
    definitions.push(definitionOf(draft));
    return draft.id;
  });
  const recalls = memoriesIn(definitions).map((memoryRef) => {
    const draft = newDraft(`recall-${memoryRef}`, random, servicePort);
    append(draft, single(add(draft, 'recall', 'weft.memory.list', { memoryRef, limit: RECALLED })));
    definitions.push(definitionOf(draft));
    return draft.id;
  });
  const closing = newDraft('chaos-closing', random, servicePort);
  append(closing, single(delay(closing)));
  definitions.push(definitionOf(closing));
  return { definitions, roots, callbackWorkflows, recalls, closing: closing.id, features };
}

/** Interrupts of these nodes are left to the callback responder. */
export const CALLBACK_GATE = 'backgate';

function memoriesIn(definitions: readonly JsonObject[]): string[] {
  const refs = definitions.flatMap(({ nodes }) =>
    (nodes as { config: { memoryRef?: string } }[]).map(({ config }) => config.memoryRef),
  );
  return [...new Set(refs.filter((ref) => ref !== undefined))];
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly rule?: string;
  readonly port?: string;
}

interface Block {
  readonly entry: string;
  readonly exit: string;
  /** How what follows waits for the exit. */
  readonly rule?: string;
}

interface Draft {
  readonly id: string;
  readonly random: Random;
  readonly servicePort: number;
  readonly nodes: JsonObject[];
  readonly edges: Edge[];
  readonly children: JsonObject[];
  last: Block | undefined;
  names: number;
}

function newDraft(id: string, random: Random, servicePort: number): Draft {
  return { id, random, servicePort, nodes: [], edges: [], children: [], last: undefined, names: 0 };
}

function append(draft: Draft, block: Block): void {
  if (draft.last !== undefined) link(draft, draft.last.exit, block.entry, rest(draft.last.rule));
  draft.last = block;
}

function rest(rule: string | undefined): Partial<Edge> {
  return rule === undefined ? {} : { rule };
}

function link(draft: Draft, from: string, to: string, more: Partial<Edge> = {}): void {
  draft.edges.push({ ...more, from, to });
}

function add(
  draft: Draft,
  kind: string,
  typeId: string,
  config: JsonObject = {},
  more: JsonObject = {},
): string {
  draft.names += 1;
  const id = `${kind}-${draft.id}-${draft.names}`;
  draft.nodes.push({ id, typeId, name: id, position: { x: 0, y: 0 }, config, inputs: {}, ...more });
  return id;
}

function single(id: string, rule?: string): Block {
  return { entry: id, exit: id, ...(rule !== undefined && { rule }) };
}

/** The place in the innermost loop goes along as text: an object in an expression has values of one type. */
function call(draft: Draft, settings: JsonObject = {}, index = '"-"', config: JsonObject = {}): string {
  const id = `call-${draft.id}-${draft.names + 1}`;
  return add(
    draft,
    'call',
    'core.http.request',
    { url: `http://127.0.0.1:${draft.servicePort}/`, method: 'POST', ...config },
    {
      inputs: {
        body: {
          type: 'expression',
          expression: `{"tag": variables.tag, "node": "${id}", "index": ${index}}`,
        },
      },
      settings: { timeoutMs: 3_000, retry: { maxAttempts: 8, initialMs: 30, maxMs: 400 }, ...settings },
    },
  );
}

/** Code on a worker; one of a few takes longer than a lease. */
function task(draft: Draft, kind: 'task' | 'once', settings: JsonObject = {}, index = '"-"'): string {
  const ms = draft.random.chance(0.3) ? draft.random.int(1_000, 2_000) : draft.random.int(0, 300);
  return add(
    draft,
    kind,
    TASK_TYPE,
    {},
    {
      inputs: {
        tag: { type: 'variable', variableName: 'tag' },
        index: { type: 'expression', expression: index },
        ms: { type: 'expression', expression: `${ms}.0` },
      },
      settings: { timeoutMs: 6_000, retry: { maxAttempts: 8, initialMs: 30, maxMs: 400 }, ...settings },
    },
  );
}

function delay(draft: Draft): string {
  return add(draft, 'delay', 'core.delay', { ms: draft.random.int(5, 400) });
}

/** A gate that is not answered in time fails; either way the run continues. */
function timeout(draft: Draft): JsonObject {
  return draft.random.chance(0.25) ? { timeoutMs: draft.random.int(300, 1_500) } : {};
}

const WHATEVER = 'all_complete';

const BLOCKS = {
  call: (draft: Draft): Block => single(call(draft)),
  unknown: (draft: Draft): Block =>
    single(call(draft, { onUnknownOutcome: 'fail', retry: { maxAttempts: 1 } }), WHATEVER),
  task: (draft: Draft): Block => single(task(draft, 'task')),
  once: (draft: Draft): Block =>
    single(task(draft, 'once', { onUnknownOutcome: 'fail', retry: { maxAttempts: 1 } }), WHATEVER),
  tasks(draft: Draft): Block {
    const items = Array.from({ length: draft.random.int(1, 3) }, (_, index) => index);
    const body = [task(draft, 'task', {}, 'string(index)')];
    return single(add(draft, 'loop', 'core.loop', { body, items, maxIterations: 10 }));
  },
  delay: (draft: Draft): Block => single(delay(draft)),
  approval(draft: Draft): Block {
    const config = { requiredApprovals: draft.random.int(1, 3), ...timeout(draft) };
    return single(add(draft, 'gate', 'core.approvalGate', config), WHATEVER);
  },
  clarification(draft: Draft): Block {
    const questions = [{ id: 'colour', question: 'Which colour?' }];
    return single(add(draft, 'ask', 'core.clarificationGate', { questions, ...timeout(draft) }), WHATEVER);
  },
  conversation(draft: Draft): Block {
    const config = { turnCount: draft.random.int(1, 2), ...timeout(draft) };
    return single(add(draft, 'talk', 'core.conversationGate', config), WHATEVER);
  },
  external(draft: Draft): Block {
    const data = { eventType: 'order.paid', correlation: { order: draft.id } };
    const config = { kind: 'external-event', data, ...timeout(draft) };
    return single(add(draft, 'event', 'core.interrupt', config), WHATEVER);
  },
  child(draft: Draft): Block {
    const workflowId = childWorkflow(draft, draft.random.chance(0.4));
    const config = { workflowId, inputMapping: { tag: 'tag' }, outputMapping: { note: 'note' } };
    return single(add(draft, 'sub', 'core.subWorkflow', { ...config, onChildFailure: 'absorb' }));
  },
  /** Two turns with a child run each, then an answer. */
  agent(draft: Draft): Block {
    const tools = [childWorkflow(draft, draft.random.chance(0.3)), childWorkflow(draft, false)];
    const call = (id: string): string => `"call workflow__${id} {\\"tag\\": \\"" + variables.tag + "\\"}\\n"`;
    const prompt = { type: 'expression', expression: `${tools.map(call).join(' + ')} + "say Done."` };
    const config = {
      ...{ model: 'mock/echo', instructions: 'Work.', prompt: 'Nothing.' },
      tools: tools.map((id) => `workflow:${id}`),
    };
    return single(add(draft, 'agent', 'weft.ai.agent', config, { inputs: { prompt } }), WHATEVER);
  },
  dispatch(draft: Draft): Block {
    const workers = [childWorkflow(draft, false), childWorkflow(draft, false)];
    const asks = draft.random.chance(0.5) ? [{ kind: 'ask-user', prompt: 'Which way?' }] : [];
    const mockDecisions = [
      ...(draft.random.chance(0.5)
        ? [{ kind: 'next-worker', nextWorkerIds: workers }]
        : workers.map((worker) => ({ kind: 'next-worker', nextWorkerIds: [worker] }))),
      ...asks,
      { kind: 'terminate' },
    ];
    const entry = add(draft, 'sup', 'core.orchestrator.supervisor', { mockDecisions });
    const exit = add(draft, 'dis', 'core.dispatch', {
      inputMapping: { tag: 'tag' },
      askUserRouting: draft.random.pick(['conversation', 'clarification']),
    });
    link(draft, entry, exit);
    link(draft, exit, entry);
    return { entry, exit };
  },
  loop(draft: Draft): Block {
    const first = call(draft, {}, 'string(index)');
    const body = draft.random.chance(0.5) ? [first] : [first, delay(draft)];
    if (body[1] !== undefined) link(draft, first, body[1]);
    const items = Array.from({ length: draft.random.int(1, 3) }, (_, index) => index);
    return single(add(draft, 'loop', 'core.loop', { body, items, maxIterations: 10 }));
  },
  branch(draft: Draft): Block {
    const entry = add(draft, 'if', 'core.conditional', { condition: 'variables.flip' });
    const [yes, no, exit] = [call(draft), delay(draft), add(draft, 'join', 'core.noop')];
    link(draft, entry, yes, { port: 'true' });
    link(draft, entry, no, { port: 'false' });
    for (const each of [yes, no]) link(draft, each, exit, { rule: 'any_success' });
    return { entry, exit };
  },
  fan(draft: Draft): Block {
    const entry = add(draft, 'fan', 'core.parallel');
    const exit = add(draft, 'merge', 'core.merge');
    const arms = [call(draft), call(draft), delay(draft)].slice(0, draft.random.int(2, 3));
    for (const arm of arms) {
      link(draft, entry, arm);
      link(draft, arm, exit, { rule: WHATEVER });
    }
    return { entry, exit };
  },
  channel(draft: Draft): Block {
    const entry = add(draft, 'write', 'core.channelWrite', { channelName: 'notes', value: draft.id });
    const count = add(draft, 'count', 'core.channelWrite', { channelName: 'total', value: 1 });
    const exit = add(draft, 'read', 'weft.channel.read', { channelName: 'total' });
    link(draft, entry, count);
    link(draft, count, exit);
    return { entry, exit };
  },
  variable: (draft: Draft): Block =>
    single(add(draft, 'set', 'core.setVariable', { name: 'note', value: draft.id })),
  stream: (draft: Draft): Block =>
    single(add(draft, 'speak', 'core.ai.callPrompt', { prompt: 'Speak.' }), WHATEVER),
  memory: (draft: Draft): Block =>
    single(
      add(
        draft,
        'keep',
        'weft.memory.write',
        { memoryRef: draft.id },
        { inputs: { content: { type: 'variable', variableName: 'tag' } } },
      ),
      WHATEVER,
    ),
  artifact(draft: Draft): Block {
    const url = `http://127.0.0.1:${draft.servicePort}${KEPT_PATH}`;
    return single(call(draft, {}, undefined, { url, saveAs: { name: 'report' } }));
  },
  secret: (draft: Draft): Block =>
    single(call(draft, {}, undefined, { secretHeaders: { 'X-Api-Key': SECRET_ID } })),
  failure(draft: Draft): Block {
    const settings = { retry: { maxAttempts: draft.random.int(1, 3), initialMs: 20 } };
    const entry = add(draft, 'fail', 'core.fail', { retryable: true }, { settings });
    const exit = add(draft, 'caught', 'core.noop');
    link(draft, entry, exit, { rule: 'any_failed' });
    return { entry, exit };
  },
};

type BlockName = keyof typeof BLOCKS;

const BLOCK_NAMES = Object.keys(BLOCKS) as BlockName[];

/** A call, a person or a pause, a word for the parent. Each is used once, so that its calls have names of their own. */
function childWorkflow(parent: Draft, asks: boolean): string {
  const child = newDraft(`${parent.id}-child-${parent.children.length}`, parent.random, parent.servicePort);
  append(child, BLOCKS.call(child));
  append(child, asks ? BLOCKS.approval(child) : BLOCKS.delay(child));
  append(child, BLOCKS.variable(child));
  parent.children.push(definitionOf(child));
  return child.id;
}

function definitionOf(draft: Draft): JsonObject {
  return {
    id: draft.id,
    name: draft.id,
    version: '1.0',
    nodes: draft.nodes,
    edges: draft.edges.map(({ from, to, rule, port }, index) => ({
      id: `e${index}`,
      sourceNodeId: from,
      targetNodeId: to,
      ...(rule !== undefined && { triggerRule: rule }),
      ...(port !== undefined && { sourceOutput: port }),
    })),
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [
      { name: 'tag', type: 'string' },
      { name: 'flip', type: 'boolean', defaultValue: true },
      { name: 'note', type: 'string' },
      { name: 'word', type: 'string' },
    ],
    channels: { notes: { reducer: 'append' }, total: { reducer: 'counter' } },
    metadata: {},
    settings: {},
  };
}
