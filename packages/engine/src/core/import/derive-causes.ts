import { isJsonObject } from '@weft/protocol';
import { NOT_TRIGGERED } from '../channels/channel-triggers.ts';
import type { Plan } from '../compile/plan.ts';
import { fromStored } from '../fold/from-stored.ts';
import { isNodeCap } from '../fold/node-caps.ts';
import { causeText, type CauseType } from '../fold/overlay.ts';
import { toNumber } from '../fold/to-plain.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import type { NodeType } from '../../model/node-type.ts';
import { type EventType, type Fact, foldPayload, type RunEvent } from '../../model/run-event.ts';
import type { NodeError } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';

/**
 * The log of a bundle with the causes that a log of this host has (overlay.ts) and a bundle does not show: guessed once, from what the
 * events say, when the bundle is imported. An input often left several facts, neighbours in the log; its cause stands at the first of them.
 */
export function* deriveCauses(plan: Plan, events: readonly StoredEvent[]): CooperativeTask<StoredEvent[]> {
  const derived: StoredEvent[] = [];
  /** Of the input whose facts are being read. */
  let first: RunEvent | undefined;
  let before: RunEvent | undefined;
  for (const stored of events) {
    yield;
    const event = fromStored(stored);
    const kind = plan.nodes.get(event.nodeId ?? '')?.type.kind;
    let cause: CauseType | undefined;
    if (first === undefined || before === undefined || !follows(first, before, event, kind)) {
      cause = causeOfFirst(event, kind);
      first = cause && event;
      cause ??= causeOfOne(event, plan) ?? causeOfTime(before, event);
    }
    derived.push(cause === undefined ? stored : withCause(stored, cause));
    before = event;
  }
  return derived;
}

function withCause(event: StoredEvent, cause: CauseType): StoredEvent {
  return { ...event, overlay: causeText(cause) + (event.overlay ?? '') };
}

type Kind = NodeType['kind'] | undefined;

/** Decided at another time than what stands before it, and not about the same node: some hosts take a while over one. */
function causeOfTime(before: RunEvent | undefined, event: RunEvent): CauseType | undefined {
  if (before === undefined || before.at === event.at) return undefined;
  const isOther = event.nodeId === undefined || event.nodeId !== before.nodeId;
  const begins = event.type === 'node.started' || event.type === 'weft.step.started';
  return isOther || begins ? 'continue' : undefined;
}

/** Facts that are their input's only one. */
function causeOfOne(event: RunEvent, plan: Plan): CauseType | undefined {
  switch (event.type) {
    case 'run.resumed':
      return 'resume';
    case 'node.started':
      return toNumber(foldPayload(event).attempt ?? 0) > 0 ? 'continue' : undefined;
    case 'weft.step.started':
      return toNumber(foldPayload(event).attempt) > 0 ? 'continue' : undefined;
    case 'cap.breached': {
      const { kind } = foldPayload(event);
      if (isNodeCap(kind)) return undefined;
      const isTime = kind === 'run-duration' || plan.triggers.has(event.nodeId ?? '');
      return isTime ? 'continue' : undefined;
    }
    case 'output.chunk':
      return 'progress';
    case 'agent.reasoning.delta': {
      const kind = plan.nodes.get(event.nodeId ?? '')?.type.kind;
      return kind === 'steps' ? 'progress' : undefined;
    }
    // When a trigger fires, and when all is left to those that will not, is a matter of time.
    case 'weft.trigger.fired':
      return 'continue';
    case 'node.skipped':
      return foldPayload(event).reason === NOT_TRIGGERED ? 'continue' : undefined;
    case 'channel.written':
      return isJsonObject(foldPayload(event).writer) ? 'channel' : undefined;
    case 'log.appended':
      return isJsonObject(foldPayload(event).refused) ? 'channel' : undefined;
    case 'weft.approval.asked':
      return 'resolve';
    default:
      return undefined;
  }
}

/** Facts that can only come from outside, or might, and that others of the same input may follow. */
function causeOfFirst(event: RunEvent, kind: Kind): CauseType | undefined {
  if (event.type === 'run.cancelled') return 'cancel';
  if (event.type === 'node.cancelled' && foldPayload(event).reason === 'run-cancelled') return 'cancel';
  if (event.type === 'run.paused' || isPausing(event)) return 'pause';
  if (isTimeout(event)) return 'continue';
  return isAnswer(event, kind) ? 'resolve' : causeOfEnd(event, kind);
}

function isAnswer({ type }: RunEvent, kind: Kind): boolean {
  if (type === 'conversation.exchanged') return kind !== 'pure';
  return type === 'interrupt.resolved' || ANSWERS.has(type);
}

/** Of facts that say how a node ends, or begin to. */
function causeOfEnd(event: RunEvent, kind: Kind): CauseType | undefined {
  switch (kind) {
    case 'timer':
      return ENDINGS.has(event.type) ? 'continue' : undefined;
    case 'effect':
      return isFromEffect(event) ? 'outcome' : undefined;
    case 'steps':
      if (isOfChildStep(event)) return event.type === 'weft.step.failed' ? 'child-created' : 'child';
      return STEP_ENDS.has(event.type) ? 'outcome' : undefined;
    case 'children':
      if (!isFromChild(event)) return undefined;
      return event.type === 'node.failed' && !isOfChild(foldPayload(event).error) ? 'child-created' : 'child';
    default:
      return undefined;
  }
}

const ANSWERS: ReadonlySet<string> = new Set<EventType>([
  'approval.received',
  'clarification.resolved',
  'conversation.exchanged',
]);
const ENDINGS: ReadonlySet<string> = new Set<EventType>(['node.completed', 'node.failed', 'node.retried']);
const STEP_ENDS: ReadonlySet<string> = new Set<EventType>([
  'weft.step.completed',
  'weft.step.failed',
  'weft.step.retried',
]);
const LAST: ReadonlySet<string> = new Set<EventType>([
  'node.completed',
  'node.failed',
  'node.retried',
  'node.dispatched',
  'interrupt.requested',
  'interrupt.resolved',
]);
/** Facts a node leaves before one of its endings. */
const ON_THE_WAY =
  /^(variable\.changed|channel\.written|agent\.|memory\.|provider\.|artifact\.|prompt\.|runOrchestrator\.|weft\.channel\.)/;

/** True when the event came of the same input as `first`, whose last fact so far is `before`. */
function follows(first: RunEvent, before: RunEvent, event: RunEvent, kind: Kind): boolean {
  if (first.type === 'node.cancelled') return /^(node|run)\.cancelled$/.test(event.type);
  if (isPausing(first))
    return event.type === 'run.paused' || (isPausing(event) && isCutShort(event) === isCutShort(first));
  if (event.nodeId !== first.nodeId || LAST.has(before.type)) return false;
  if (ANSWERS.has(first.type)) return isOfAnswer(first, event);
  if (kind === 'children') return before.type !== 'node.suspended' && isFromChild(event);
  if (kind === 'steps') return before.type === 'node.resumed' && isOfChildStep(event);
  if (kind !== 'effect') return false;
  return before.type === 'node.suspended' ? event.type === 'interrupt.requested' : isFromEffect(event);
}

function isOfAnswer(first: RunEvent, event: RunEvent): boolean {
  if (event.type === 'interrupt.resolved')
    return first.type !== 'conversation.exchanged' || !isClosing(event);
  return first.type === 'conversation.exchanged' && event.type === 'channel.written';
}

/** Closing a conversation, or letting its time run out, is an act of its own; one that closes by itself does so with its last turn. */
function isClosing(event: Fact<'interrupt.resolved'>): boolean {
  const { resumeValue: value } = foldPayload(event);
  return (
    isTimeout(event) || (isJsonObject(value) && (value['operation'] === 'close' || value['close'] === true))
  );
}

/** No answer came in time. */
function isTimeout(event: RunEvent): boolean {
  if (event.type === 'approval.received') return foldPayload(event).action === 'timeout';
  return event.type === 'interrupt.resolved' && foldPayload(event).reason === 'timeout';
}

/** What a pause does to delays and effects before it is on record itself. */
function isPausing(event: RunEvent): boolean {
  if (event.type === 'node.completed') return foldPayload(event).reason === 'ended early by a pause';
  if (event.type === 'weft.step.retried') return foldPayload(event).reason === 'paused';
  return event.type === 'node.retried' && foldPayload(event).reason === 'paused';
}

/** By a pause that does not wait. */
function isCutShort({ type }: RunEvent): boolean {
  return type === 'node.retried' || type === 'weft.step.retried';
}

function isFromEffect({ type }: RunEvent): boolean {
  return ENDINGS.has(type) || type === 'node.suspended' || ON_THE_WAY.test(type);
}

/** Facts of a node with children that its child, and nothing else, can have led to. */
function isFromChild(event: RunEvent): boolean {
  switch (event.type) {
    case 'node.dispatched':
      return toNumber(foldPayload(event).done ?? 0) > 0;
    case 'node.suspended':
      return foldPayload(event).childStatus !== undefined;
    case 'node.resumed':
      return foldPayload(event).interruptId === undefined;
    case 'node.failed':
      return isOfChild(foldPayload(event).error) || isNotCreated(foldPayload(event).error);
    case 'node.completed':
      return foldPayload(event).outputs?.['childRunId'] !== undefined;
    default:
      return event.type === 'variable.changed';
  }
}

/** Facts of a node that works in steps to which only a child run of one of them can have led. */
function isOfChildStep(event: RunEvent): boolean {
  switch (event.type) {
    case 'weft.step.completed':
    case 'weft.step.failed':
      return foldPayload(event).childRunId !== undefined;
    case 'node.suspended':
      return foldPayload(event).childStatus !== undefined;
    case 'node.resumed':
      return foldPayload(event).interruptId === undefined;
    default:
      return false;
  }
}

const NOT_CREATED = new Set([
  'unknown_child_workflow',
  'child_recursion',
  'child_depth_exceeded',
  'child_input_invalid',
  'child_missing',
]);

function isNotCreated(error: NodeError | undefined): boolean {
  return error !== undefined && NOT_CREATED.has(error.code);
}

function isOfChild(error: NodeError | undefined): boolean {
  return error?.details?.['childStatus'] !== undefined;
}
