import { isJsonObject } from '@weft/protocol';
import { toNumber } from '../fold/to-plain.ts';
import type { Plan } from '../compile/plan.ts';
import { type Fact, foldPayload, type RunEvent } from '../../model/run-event.ts';
import type { NodeError } from '../../model/run-state.ts';

/** Which facts of a log came from the same input: a group of neighbours, of one node or of the whole run. */
export interface Group {
  readonly first: RunEvent;
  readonly events: RunEvent[];
}

/** Facts a node leaves on its way to an end; which end tells what they belong to. */
const ON_THE_WAY =
  /^(variable\.changed|channel\.written|agent\.|memory\.|provider\.|artifact\.|runOrchestrator\.|weft\.channel\.)/;
export const ANSWERS: ReadonlySet<string> = new Set([
  'approval.received',
  'clarification.resolved',
  'conversation.exchanged',
]);
const EARLY = 'ended early by a pause';

/** A node's group begins where a fact of it can only come from outside, or might. */
export function startsGroup(event: RunEvent, plan: Plan): boolean {
  const { type } = event;
  if (type === 'run.cancelled' || type === 'run.paused') return true;
  if (event.type === 'node.cancelled') return foldPayload(event).reason === 'run-cancelled';
  if (type === 'interrupt.resolved' || isPausing(event)) return true;
  const kind = plan.nodes.get(event.nodeId ?? '')?.type.kind;
  if (ANSWERS.has(type)) return kind !== 'pure' || type !== 'conversation.exchanged';
  switch (kind) {
    case 'timer':
      return ENDINGS.has(type);
    case 'effect':
      return isFromEffect(event);
    case 'children':
      return isFromChild(event);
    default:
      return false;
  }
}

const ENDINGS: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.retried']);

function isFromEffect(event: RunEvent): boolean {
  const { type } = event;
  return (ENDINGS.has(type) && !isPausing(event)) || type === 'node.suspended' || ON_THE_WAY.test(type);
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
      return isAboutChild(foldPayload(event).error);
    case 'node.completed':
      return foldPayload(event).outputs?.['childRunId'] !== undefined;
    default:
      return event.type === 'variable.changed';
  }
}

const CHILD_REFUSALS = new Set([
  'unknown_child_workflow',
  'child_recursion',
  'child_depth_exceeded',
  'child_input_invalid',
  'child_missing',
]);

function isAboutChild(error: NodeError | undefined): boolean {
  return CHILD_REFUSALS.has(String(error?.code)) || error?.details?.['childStatus'] !== undefined;
}

/** True when the event belongs to the same input as what is held. */
export function goesOn(held: Group, event: RunEvent, plan: Plan): boolean {
  const { first } = held;
  if (first.type === 'node.cancelled' || isPausing(first)) return isOfCommand(first, event);
  if (ANSWERS.has(first.type)) return event.nodeId === first.nodeId && isOfAnswer(first, event);
  const last = held.events.at(-1);
  if (event.nodeId !== first.nodeId || last === undefined || isEnd(last, plan)) return false;
  const kind = plan.nodes.get(first.nodeId ?? '')?.type.kind;
  if (kind === 'children') return isFromChild(event);
  if (kind !== 'effect') return false;
  if (last.type === 'node.suspended') return event.type === 'interrupt.requested';
  return isFromEffect(event);
}

/** A drain ends delays, an immediate pause stops effects; one may come to the help of the other. */
function isOfCommand(first: RunEvent, event: RunEvent): boolean {
  if (first.type === 'node.cancelled')
    return event.type === 'node.cancelled' || event.type === 'run.cancelled';
  return (isPausing(event) && event.type === first.type) || event.type === 'run.paused';
}

function isOfAnswer(first: RunEvent, event: RunEvent): boolean {
  if (first.type !== 'conversation.exchanged') return event.type === 'interrupt.resolved';
  return event.type === 'channel.written' || (event.type === 'interrupt.resolved' && !isClosing(event));
}

/** Closing a conversation, or letting its time run out, is an act of its own; one that closes by itself does so with its last turn. */
function isClosing(event: Fact<'interrupt.resolved'>): boolean {
  const { resumeValue: value, reason } = foldPayload(event);
  if (reason === 'timeout') return true;
  return isJsonObject(value) && (value['operation'] === 'close' || value['close'] === true);
}

/** True when nothing of the same input can follow. */
export function isEnd(event: RunEvent, plan: Plan): boolean {
  const kind = plan.nodes.get(event.nodeId ?? '')?.type.kind;
  switch (event.type) {
    case 'node.completed':
    case 'node.failed':
    case 'node.retried':
      return !isPausing(event);
    case 'node.dispatched':
    case 'interrupt.requested':
    case 'interrupt.resolved':
    case 'run.cancelled':
    case 'run.paused':
      return true;
    case 'node.suspended':
      return kind === 'children';
    default:
      return false;
  }
}

/** What a pause does to delays and effects before it is on record itself. */
export function isPausing(event: RunEvent): boolean {
  return (
    (event.type === 'node.completed' && foldPayload(event).reason === EARLY) ||
    (event.type === 'node.retried' && foldPayload(event).reason === 'paused')
  );
}
