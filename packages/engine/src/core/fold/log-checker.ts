import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { isTerminalEvent } from '../../model/run-event.ts';
import { nodeKey } from '../../model/run-state.ts';

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
  { id: 'L4', rule: 'An ended run has exactly one terminal event, a run under way has none.' },
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
  { id: 'L13', rule: 'A cap is breached once per kind.' },
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
  /** False for a run that is still under way; otherwise the log must be complete. */
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
    read(event, reading, report);
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

function read(event: LogEntry, reading: Reading, report: Report): void {
  const payload = objectOf(event.payload);
  switch (event.type) {
    case 'run.completed':
      checkNothingOpen(reading, report);
      break;
    case 'run.failed':
      checkFailure(payload, reading, report);
      break;
    case 'run.paused':
      if (reading.isPaused) report('L16', 'the run is already paused');
      reading.isPaused = true;
      break;
    case 'run.resumed':
      if (!reading.isPaused) report('L16', 'the run is not paused');
      reading.isPaused = false;
      break;
    case 'weft.trigger.fired':
      if (payload['reenters'] !== undefined && event.nodeId !== undefined)
        readRound(event.nodeId, event.nodeId, payload, reading, report);
      break;
    case 'cap.breached':
      readBreach(payload, reading, report);
      break;
    case 'variable.changed':
    case 'channel.written':
    case 'output.chunk':
      checkWriter(event, payload, reading, report);
      break;
    default:
      if (event.type.startsWith('node.') && event.nodeId !== undefined)
        readNodeEvent(event.type, event.nodeId, payload, reading, report);
  }
  if (isTerminalEvent(event.type)) reading.terminal ??= event.type;
}

function readNodeEvent(
  type: string,
  nodeId: string,
  payload: JsonObject,
  reading: Reading,
  report: Report,
): void {
  const key = nodeKey(nodeId, iterationOf(payload));
  const execution = executionOf(key, nodeId, reading);
  const { status } = execution;
  if (status === 'settled') {
    report('L8', `"${key}" has already settled`);
    if (type !== 'node.started') return;
  }
  switch (type) {
    case 'node.started':
      readStart(key, payload, execution, reading, report);
      break;
    case 'node.completed':
      if (status !== 'running') report('L7', `"${key}" is not running`);
      execution.status = 'settled';
      if (payload['reenters'] !== undefined) readRound(key, nodeId, payload, reading, report);
      break;
    case 'node.failed':
      execution.status = 'settled';
      break;
    case 'node.cancelled':
      if (status === 'none') report('L7', `"${key}" never started`);
      execution.status = 'settled';
      break;
    case 'node.skipped':
      if (status !== 'none') report('L7', `"${key}" has started`);
      execution.status = 'settled';
      break;
    case 'node.suspended':
      if (status !== 'running') report('L7', `"${key}" is not running`);
      execution.status = 'suspended';
      break;
    case 'node.resumed':
      if (status !== 'suspended') report('L7', `"${key}" is not suspended`);
      execution.status = 'running';
      break;
    case 'node.retried':
      readRetry(key, payload, execution, report);
      break;
  }
}

/** The nodes of the cycle may start again, each as if for the first time. */
function readRound(key: string, nodeId: string, payload: JsonObject, reading: Reading, report: Report): void {
  const { reenters } = payload;
  const names = Array.isArray(reenters) ? reenters.map(String) : [];
  if (!names.includes(nodeId)) report('L22', `"${key}" is not on the cycle it closes`);
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
  payload: JsonObject,
  execution: Execution,
  reading: Reading,
  report: Report,
): void {
  const attempt = typeof payload['attempt'] === 'number' ? payload['attempt'] : 0;
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
function readRetry(key: string, payload: JsonObject, execution: Execution, report: Report): void {
  if (execution.status !== 'running') report('L9', `"${key}" is not running`);
  const expected = execution.attempt + 1;
  if (payload['attempt'] !== expected)
    report('L9', `attempt ${String(payload['attempt'])} should be ${expected}`);
  execution.status = 'due';
  execution.attempt = typeof payload['attempt'] === 'number' ? payload['attempt'] : expected;
}

/** Caps of the whole run, and the code with which it then fails. */
const RUN_CAPS = new Map([
  ['node-executions', 'recursion_limit_exceeded'],
  ['run-duration', 'run_timeout'],
  ['loop-iterations', 'loop_limit_exceeded'],
  ['clarification', 'clarification_limit_exceeded'],
]);

function readBreach(payload: JsonObject, reading: Reading, report: Report): void {
  const { kind, limit, observed } = payload;
  if (typeof limit !== 'number' || typeof observed !== 'number' || observed <= limit) {
    report('L12', `observed ${String(observed)} is not above the limit ${String(limit)}`);
  }
  const name = String(kind);
  if (reading.breaches.has(name)) report('L13', `the cap "${name}" was breached before`);
  if (name === 'node-executions' && typeof limit === 'number' && reading.starts > limit) {
    report('L14', `${reading.starts} nodes had started, the limit is ${limit}`);
  }
  reading.breaches.add(name);
}

function checkFailure(payload: JsonObject, reading: Reading, report: Report): void {
  const { code, message } = objectOf(payload['error'] ?? null);
  if (!isNonEmpty(code) || !isNonEmpty(message))
    report('L18', 'the payload has no error with code and message');
  for (const [kind, failure] of RUN_CAPS) {
    if (code === failure && !reading.breaches.has(kind))
      report('L15', `no cap.breached of kind "${kind}" came before`);
  }
}

function checkNothingOpen(reading: Reading, report: Report): void {
  for (const [key, execution] of reading.executions) {
    if (execution.status !== 'settled' && execution.status !== 'none')
      report('L20', `"${key}" is ${execution.status}`);
  }
}

/** These payloads carry no iteration, so any execution of the node will do. */
function checkWriter(event: LogEntry, payload: JsonObject, reading: Reading, report: Report): void {
  const nodeId = event.nodeId ?? payload['nodeId'];
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
    report('L4', `there is ${reading.terminal}, though the run is under way`);
  for (const kind of RUN_CAPS.keys()) {
    if (reading.breaches.has(kind) && reading.terminal !== undefined && reading.terminal !== 'run.failed') {
      report('L15', `the cap "${kind}" was breached, but the run ended with ${reading.terminal}`);
    }
  }
}

function iterationOf(payload: JsonObject): number[] {
  const { iteration } = payload;
  return Array.isArray(iteration) ? iteration.filter((index) => typeof index === 'number') : [];
}

function objectOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

function isNonEmpty(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}
