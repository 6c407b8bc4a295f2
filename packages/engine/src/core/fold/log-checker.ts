import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { type EventType, isTerminalEvent, type Payload } from '../../model/run-event.ts';
import { nodeKey } from '../../model/run-state.ts';
import { isNodeCap } from './node-caps.ts';

/**
 * Says whether a log could have been written by a correct host. It knows nothing of `evolve`: two independent readings of
 * the same rules are worth more than one.
 *
 * A node execution is named by node id and iteration. It goes
 *
 *     (none) → started → completed | failed | cancelled
 *     started → retried → started …       a new attempt
 *     started → suspended → resumed       back to started
 *     (none) → skipped | failed           refused before it began
 *
 * and whatever has settled stays as it is.
 */

export const LOG_RULES = [
  { id: 'L1', rule: 'Sequences start at 0 and have no gaps.' },
  { id: 'L2', rule: 'Times never decrease.' },
  {
    id: 'L3',
    rule: 'run.started is the first event and occurs once; only a log that is one run.cancelled or run.failed does without.',
  },
  { id: 'L4', rule: 'An ended run has exactly one terminal event, an open run has none.' },
  { id: 'L5', rule: 'Nothing follows a terminal event.' },
  { id: 'L6', rule: 'A node starts once per attempt: at first, or after a retry.' },
  {
    id: 'L7',
    rule: 'Only a started node completes, is suspended or is cancelled, and only one that never started is skipped.',
  },
  { id: 'L8', rule: 'Nothing happens to a node after it has settled.' },
  { id: 'L9', rule: 'A retry follows a started attempt and carries the next number.' },
  {
    id: 'L10',
    rule: 'The first attempt is number 0; an attempt after a retry has the number the retry announced.',
  },
  { id: 'L11', rule: 'A node event names its node, and the same one in the document and in the payload.' },
  { id: 'L12', rule: 'A breached cap was exceeded: observed is greater than limit.' },
  { id: 'L13', rule: 'A cap of the run is breached once per kind.' },
  {
    id: 'L14',
    rule: 'The cap on node executions holds: at most limit starts before the breach, none after it.',
  },
  {
    id: 'L15',
    rule: 'A breach of a cap of the whole run ends in run.failed, and run.failed for a cap follows its breach.',
  },
  { id: 'L16', rule: 'run.paused and run.resumed alternate.' },
  { id: 'L17', rule: 'No node starts while the run is paused.' },
  { id: 'L18', rule: 'run.failed carries an error with code and message.' },
  { id: 'L19', rule: 'Payloads fit the catalogue.' },
  { id: 'L20', rule: 'No node is left unsettled when the run completes.' },
  { id: 'L21', rule: 'What a node writes, it writes while it runs, or while it is asked and answers come.' },
  {
    id: 'L22',
    rule: 'What is done again, a cycle or the nodes behind a trigger, had settled, and names the node that began it.',
  },
] as const;

export type LogRuleId = (typeof LOG_RULES)[number]['id'];

export interface LogEntry {
  readonly sequence: number;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly nodeId?: string;
  readonly payload: Json;
}

export interface Violation {
  readonly rule: LogRuleId;
  /** Of the event that broke it; the log's length when something is missing at the end. */
  readonly sequence: number;
  readonly message: string;
}

export interface LogCheckOptions {
  /** False for a run that is still open; otherwise the log must be complete. */
  readonly terminal?: boolean;
  /** What is wrong with a payload of this type; nothing for types it does not know. */
  readonly checkPayload?: (type: string, payload: Json) => readonly string[];
}

type Status = 'none' | 'running' | 'due' | 'suspended' | 'settled';

interface Execution {
  status: Status;
  attempt: number;
}

/** What has been read so far. */
interface Reading {
  readonly executions: Map<string, Execution>;
  /** The same, per node, newest last. */
  readonly byNode: Map<string, Execution[]>;
  readonly breaches: Set<string>;
  starts: number;
  isStarted: boolean;
  isPaused: boolean;
  terminal: string | undefined;
  lastAt: number;
}

type Report = (rule: LogRuleId, message: string) => void;

/** Every violation, in the order of the log. An empty list means the log is legal. */
export function checkLog(events: readonly LogEntry[], options: LogCheckOptions = {}): Violation[] {
  const violations: Violation[] = [];
  const reading: Reading = {
    executions: new Map(),
    byNode: new Map(),
    breaches: new Set(),
    starts: 0,
    isStarted: false,
    isPaused: false,
    terminal: undefined,
    lastAt: Number.NEGATIVE_INFINITY,
  };
  for (const [index, event] of events.entries()) {
    const report: Report = (rule, message) =>
      violations.push({
        rule,
        sequence: event.sequence,
        message: `${event.type} (${event.sequence}): ${message}`,
      });
    if (event.sequence !== index) report('L1', `the sequence should be ${index}`);
    if (event.at < reading.lastAt)
      report('L2', `is ${reading.lastAt - event.at} ms earlier than the event before`);
    reading.lastAt = Math.max(reading.lastAt, event.at);
    for (const problem of options.checkPayload?.(event.type, event.payload) ?? []) report('L19', problem);
    checkPlace(event, index, events.length, reading, report);
    checkNodeNamed(event, report);
    applyRule({ event, reading, report });
  }
  checkEnd(events.length, reading, options, violations);
  return violations;
}

function checkPlace(event: LogEntry, index: number, length: number, reading: Reading, report: Report): void {
  if (reading.terminal !== undefined) {
    report('L5', `comes after ${reading.terminal}`);
    if (isTerminalEvent(event.type)) report('L4', 'is a second terminal event');
  }
  if (event.type === 'run.started') {
    if (reading.isStarted || index > 0) report('L3', 'is not the first event');
    reading.isStarted = true;
  } else if (!reading.isStarted && index === 0) {
    const mayStandAlone = event.type === 'run.cancelled' || event.type === 'run.failed';
    if (!mayStandAlone || length > 1) report('L3', 'stands before run.started');
  }
}

function checkNodeNamed(event: LogEntry, report: Report): void {
  const inPayload = objectOf(event.payload)['nodeId'];
  if (event.type.startsWith('node.') && event.nodeId === undefined) report('L11', 'has no nodeId');
  else if (event.nodeId !== undefined && inPayload !== undefined && inPayload !== event.nodeId) {
    report('L11', `is about "${event.nodeId}" but its payload about "${String(inPayload)}"`);
  } else if (needsNodeInPayload(event.type) && inPayload === undefined)
    report('L11', 'has no nodeId in its payload');
}

/** `node.dispatched` is about a child; its payload is closed and has no node id. */
function needsNodeInPayload(type: string): boolean {
  return type.startsWith('node.') && type !== 'node.dispatched';
}

/** An event on its way through the rules. */
interface Read {
  readonly event: LogEntry;
  readonly reading: Reading;
  readonly report: Report;
}

/** The members of a type's payload. Each rule checks their values itself: the log may come from another host. */
type Members<Type extends EventType> = { readonly [Member in keyof Payload<Type>]?: Json };

type Rule<Type extends EventType> = (payload: Members<Type>, read: Read) => void;

/** Of types whose place in the log says nothing. */
const anywhere = (): void => undefined;

/** One for each type that is recorded; what holds for all of them stands in `checkLog`. */
const RULES: { readonly [Type in EventType]: Rule<Type> } = {
  'run.started': anywhere,
  'run.completed': (_payload, { reading, report }) => checkNothingOpen(reading, report),
  'run.failed': (payload, { reading, report }) => checkFailure(payload, reading, report),
  'run.cancelled': anywhere,
  'run.dead_lettered': anywhere,
  'trigger.delivery.attempted': anywhere,
  'run.paused': (_payload, { reading, report }) => {
    if (reading.isPaused) report('L16', 'the run is already paused');
    reading.isPaused = true;
  },
  'run.resumed': (_payload, { reading, report }) => {
    if (!reading.isPaused) report('L16', 'the run is not paused');
    reading.isPaused = false;
  },

  'node.started': (payload, read) => {
    const node = nodeIn(read);
    if (node !== undefined) readStart(node.key, payload, node.execution, read.reading, read.report);
  },
  'node.completed': (payload, read) => {
    const node = unsettledNode(read);
    if (node === undefined) return;
    const { key, execution } = node;
    if (execution.status !== 'running') read.report('L7', `"${key}" is not running`);
    execution.status = 'settled';
    if (payload.reenters !== undefined) readRound(key, payload, read);
  },
  'node.failed': (_payload, read) => {
    const node = unsettledNode(read);
    if (node !== undefined) node.execution.status = 'settled';
  },
  'node.cancelled': (_payload, read) => {
    const node = unsettledNode(read);
    if (node === undefined) return;
    if (node.execution.status === 'none') read.report('L7', `"${node.key}" never started`);
    node.execution.status = 'settled';
  },
  'node.skipped': (_payload, read) => {
    const node = unsettledNode(read);
    if (node === undefined) return;
    if (node.execution.status !== 'none') read.report('L7', `"${node.key}" has started`);
    node.execution.status = 'settled';
  },
  'node.suspended': (_payload, read) => {
    const node = unsettledNode(read);
    if (node === undefined) return;
    if (node.execution.status !== 'running') read.report('L7', `"${node.key}" is not running`);
    node.execution.status = 'suspended';
  },
  'node.resumed': (_payload, read) => {
    const node = unsettledNode(read);
    if (node === undefined) return;
    if (node.execution.status !== 'suspended') read.report('L7', `"${node.key}" is not suspended`);
    node.execution.status = 'running';
  },
  'node.retried': (payload, read) => {
    const node = unsettledNode(read);
    if (node !== undefined) readRetry(node.key, payload, node.execution, read.report);
  },
  'node.dispatched': (_payload, read) => void unsettledNode(read),

  'weft.trigger.fired': (payload, read) => {
    const { nodeId } = read.event;
    if (payload.reenters !== undefined && nodeId !== undefined) readRound(nodeId, payload, read);
  },
  'cap.breached': (payload, { reading, report }) => readBreach(payload, reading, report),
  'variable.changed': checkWriter,
  'channel.written': checkWriter,
  'output.chunk': checkWriter,
  'weft.step.started': checkWriter,
  'weft.step.completed': checkWriter,
  'weft.step.failed': checkWriter,
  'weft.step.retried': checkWriter,

  'interrupt.requested': anywhere,
  'interrupt.resolved': anywhere,
  'approval.requested': anywhere,
  'approval.received': anywhere,
  'weft.approval.asked': anywhere,
  'clarification.requested': anywhere,
  'clarification.resolved': anywhere,
  'conversation.opened': anywhere,
  'conversation.exchanged': anywhere,
  'conversation.closed': anywhere,
  'weft.channel.sent': anywhere,
  'log.appended': anywhere,
  'version.pinned': anywhere,
  'replay.diverged': anywhere,
  'runOrchestrator.decided': anywhere,
  'artifact.created': anywhere,
  'memory.written': anywhere,
  'provider.usage': anywhere,
  'budget.reserved': anywhere,
  'budget.consumed': anywhere,
  'budget.threshold.crossed': anywhere,
  'budget.exhausted': anywhere,
  'prompt.composed': anywhere,
  'agent.reasoned': anywhere,
  'agent.reasoning.delta': anywhere,
  'agent.toolCalled': anywhere,
  'agent.toolReturned': anywhere,
  'agent.handoff': anywhere,
  'agent.decided': anywhere,
};

const BY_NAME: ReadonlyMap<string, (payload: JsonObject, read: Read) => void> = new Map(
  Object.entries(RULES),
);

export const RULED_TYPES: readonly string[] = Object.keys(RULES);

function applyRule(read: Read): void {
  const { event, reading } = read;
  const rule = BY_NAME.get(event.type);
  if (rule !== undefined) rule(objectOf(event.payload), read);
  // Of a newer or another host.
  else if (event.type.startsWith('node.')) unsettledNode(read);
  if (isTerminalEvent(event.type)) reading.terminal ??= event.type;
}

interface ReadNode {
  readonly key: string;
  readonly execution: Execution;
}

/** The execution that the event is about; undefined when it names no node. */
function nodeIn({ event, reading, report }: Read): ReadNode | undefined {
  const { nodeId, payload } = event;
  if (nodeId === undefined) return undefined;
  const key = nodeKey(nodeId, iterationOf(objectOf(payload)));
  const execution = executionOf(key, nodeId, reading);
  if (execution.status === 'settled') report('L8', `"${key}" has already settled`);
  return { key, execution };
}

/** The same; undefined also when nothing may happen to it any more. */
function unsettledNode(read: Read): ReadNode | undefined {
  const node = nodeIn(read);
  return node?.execution.status === 'settled' ? undefined : node;
}

/** The nodes of the cycle may start again, each as if for the first time. */
function readRound(
  key: string,
  payload: { readonly reenters?: Json; readonly iteration?: Json },
  { event, reading, report }: Read,
): void {
  const { reenters } = payload;
  const names = Array.isArray(reenters) ? reenters.map(String) : [];
  if (event.nodeId === undefined || !names.includes(event.nodeId))
    report('L22', `"${key}" is not on the cycle it closes`);
  for (const name of names) {
    const member = reading.executions.get(nodeKey(name, iterationOf(payload)));
    if (member?.status === 'settled' || member === undefined) {
      if (member !== undefined) Object.assign(member, { status: 'none', attempt: 0 });
    } else report('L22', `"${name}" is ${member.status} when its cycle begins again`);
  }
}

function executionOf(key: string, nodeId: string, reading: Reading): Execution {
  const known = reading.executions.get(key);
  if (known !== undefined) return known;
  const execution: Execution = { status: 'none', attempt: 0 };
  reading.executions.set(key, execution);
  const siblings = reading.byNode.get(nodeId);
  if (siblings === undefined) reading.byNode.set(nodeId, [execution]);
  else siblings.push(execution);
  return execution;
}

function readStart(
  key: string,
  payload: Members<'node.started'>,
  execution: Execution,
  reading: Reading,
  report: Report,
): void {
  const attempt = typeof payload.attempt === 'number' ? payload.attempt : 0;
  const { status } = execution;
  if (status === 'running' || status === 'suspended') report('L6', `"${key}" is already running`);
  else if (status !== 'settled' && attempt !== execution.attempt) {
    report('L10', `attempt ${attempt} should be ${execution.attempt}`);
  }
  if (reading.isPaused) report('L17', `"${key}" starts while the run is paused`);
  if (reading.breaches.has('node-executions')) report('L14', `"${key}" starts after the cap was breached`);
  reading.starts += 1;
  execution.status = 'running';
  execution.attempt = attempt;
}

/** Keeps the announced number, which the next start must carry. */
function readRetry(
  key: string,
  { attempt }: Members<'node.retried'>,
  execution: Execution,
  report: Report,
): void {
  if (execution.status !== 'running') report('L9', `"${key}" is not running`);
  const expected = execution.attempt + 1;
  if (attempt !== expected) report('L9', `attempt ${String(attempt)} should be ${expected}`);
  execution.status = 'due';
  execution.attempt = typeof attempt === 'number' ? attempt : expected;
}

/** Caps of the whole run, and the code with which it then fails. */
const RUN_CAPS = new Map([
  ['node-executions', 'recursion_limit_exceeded'],
  ['run-duration', 'run_timeout'],
  ['loop-iterations', 'loop_limit_exceeded'],
  ['budget-tokens', 'budget_exhausted'],
  ['budget-cost', 'budget_exhausted'],
  ['budget-tool-calls', 'budget_exhausted'],
  ['clarification', 'clarification_limit_exceeded'],
]);

function readBreach(
  { kind, limit, observed }: Members<'cap.breached'>,
  reading: Reading,
  report: Report,
): void {
  if (typeof limit !== 'number' || typeof observed !== 'number' || observed <= limit) {
    report('L12', `observed ${String(observed)} is not above the limit ${String(limit)}`);
  }
  const name = String(kind);
  if (reading.breaches.has(name) && !isNodeCap(name)) report('L13', `the cap "${name}" was breached before`);
  if (name === 'node-executions' && typeof limit === 'number' && reading.starts > limit) {
    report('L14', `${reading.starts} nodes had started, the limit is ${limit}`);
  }
  reading.breaches.add(name);
}

function checkFailure({ error = null }: Members<'run.failed'>, reading: Reading, report: Report): void {
  const { code, message } = objectOf(error);
  if (!isNonEmpty(code) || !isNonEmpty(message))
    report('L18', 'the payload has no error with code and message');
  const kinds = [...RUN_CAPS].flatMap(([kind, failure]) => (failure === code ? [kind] : []));
  if (kinds.length > 0 && !kinds.some((kind) => reading.breaches.has(kind)))
    report('L15', `no cap.breached of kind "${kinds.join('" or "')}" came before`);
}

function checkNothingOpen(reading: Reading, report: Report): void {
  for (const [key, execution] of reading.executions) {
    if (execution.status !== 'settled' && execution.status !== 'none')
      report('L20', `"${key}" is ${execution.status}`);
  }
}

/** These payloads carry no iteration, so any execution of the node will do. */
function checkWriter(payload: { readonly nodeId?: Json }, { event, reading, report }: Read): void {
  const nodeId = event.nodeId ?? payload.nodeId;
  if (typeof nodeId !== 'string') return;
  const isRunning =
    reading.byNode
      .get(nodeId)
      ?.some(
        ({ status }) => status === 'running' || (status === 'suspended' && event.type !== 'output.chunk'),
      ) === true;
  if (!isRunning) report('L21', `"${nodeId}" is not running`);
}

function checkEnd(length: number, reading: Reading, options: LogCheckOptions, violations: Violation[]): void {
  const report: Report = (rule, message) =>
    violations.push({ rule, sequence: length, message: `end of the log: ${message}` });
  const mustBeTerminal = options.terminal !== false;
  if (mustBeTerminal && reading.terminal === undefined) report('L4', 'there is no terminal event');
  if (!mustBeTerminal && reading.terminal !== undefined)
    report('L4', `there is ${reading.terminal}, though the run has not ended`);
  for (const kind of RUN_CAPS.keys()) {
    if (reading.breaches.has(kind) && reading.terminal !== undefined && reading.terminal !== 'run.failed') {
      report('L15', `the cap "${kind}" was breached, but the run ended with ${reading.terminal}`);
    }
  }
}

function iterationOf({ iteration }: { readonly iteration?: Json }): number[] {
  return Array.isArray(iteration) ? iteration.filter((index) => typeof index === 'number') : [];
}

function objectOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

function isNonEmpty(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}
