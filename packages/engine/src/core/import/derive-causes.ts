import { isJsonObject } from '@weft/protocol';
import { NOT_TRIGGERED } from '../channels/channel-triggers.ts';
import type { Plan } from '../compile/plan.ts';
import { fromStored } from '../fold/from-stored.ts';
import { causeText, type CauseType } from '../fold/overlay.ts';
import { toNumber } from '../fold/to-plain.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import { foldPayload, type RunEvent } from '../../model/run-event.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { ANSWERS, goesOn, type Group, isEnd, isPausing, startsGroup } from './groups.ts';

/**
 * The log of a bundle with the causes that a log of this host has (overlay.ts) and a bundle does not show: guessed once, from what the
 * events say, when the bundle is imported. An input often left several facts; its cause stands at the first of them.
 */
export function* deriveCauses(plan: Plan, events: readonly StoredEvent[]): CooperativeTask<StoredEvent[]> {
  const causes = new Map<number, CauseType>();
  let held: Group | undefined;
  let before: RunEvent | undefined;

  function release(): void {
    const cause = held && causeOfGroup(held, plan);
    if (held !== undefined && cause !== undefined) causes.set(held.first.seq, cause);
    held = undefined;
  }

  for (const stored of events) {
    yield;
    const event = fromStored(stored);
    if (held !== undefined && goesOn(held, event, plan)) held.events.push(event);
    else {
      release();
      if (startsGroup(event, plan)) held = { first: event, events: [event] };
      else {
        const cause = causeOfOne(event, plan) ?? (isLater(before, event) ? 'continue' : undefined);
        if (cause !== undefined) causes.set(event.seq, cause);
      }
    }
    if (held !== undefined && isEnd(event, plan)) release();
    before = event;
  }
  release();
  return events.map((event) => {
    const cause = causes.get(event.seq);
    return cause === undefined ? event : { ...event, overlay: causeText(cause) + (event.overlay ?? '') };
  });
}

/** Decided at another time than what stands before it, and not about the same node: some hosts take a while over one. */
function isLater(before: RunEvent | undefined, event: RunEvent): boolean {
  if (before === undefined || before.at === event.at || event.type === 'run.started') return false;
  return event.nodeId === undefined || event.nodeId !== before.nodeId || event.type === 'node.started';
}

/** Facts that are their input's only one. */
function causeOfOne(event: RunEvent, plan: Plan): CauseType | undefined {
  switch (event.type) {
    case 'run.resumed':
      return 'resume';
    case 'node.started':
      return toNumber(foldPayload(event).attempt ?? 0) > 0 ? 'continue' : undefined;
    case 'cap.breached':
      return foldPayload(event).kind === 'run-duration' || plan.triggers.has(event.nodeId ?? '')
        ? 'continue'
        : undefined;
    case 'output.chunk':
      return 'progress';
    // When a trigger fires, and when all is left to those that will not, is a matter of time.
    case 'weft.trigger.fired':
      return 'continue';
    case 'node.skipped':
      return foldPayload(event).reason === NOT_TRIGGERED ? 'continue' : undefined;
    case 'channel.written': {
      const { writer, sourceRunId } = foldPayload(event);
      return isJsonObject(writer) && typeof sourceRunId === 'string' ? 'channel' : undefined;
    }
    case 'log.appended':
      return isJsonObject(foldPayload(event).refused) ? 'channel' : undefined;
    case 'weft.approval.asked':
      return 'resolve';
    default:
      return undefined;
  }
}

function causeOfGroup({ first, events }: Group, plan: Plan): CauseType | undefined {
  if (events.some(({ type }) => type === 'run.cancelled')) return 'cancel';
  if (isPausing(first) || events.some(({ type }) => type === 'run.paused')) return 'pause';
  if (ANSWERS.has(first.type) || first.type === 'interrupt.resolved')
    return events.some(isTimeout) ? 'continue' : 'resolve';
  const last = events.at(-1);
  const kind = plan.nodes.get(first.nodeId ?? '')?.type.kind;
  if (last === undefined || !isEnd(last, plan)) return kind === 'children' ? 'child' : undefined;
  switch (kind) {
    case 'effect':
      return 'outcome';
    case 'timer':
      return 'continue';
    case 'children':
      return isNotCreated(last) ? 'child-created' : 'child';
    default:
      return undefined;
  }
}

function isNotCreated(event: RunEvent): boolean {
  return event.type === 'node.failed' && foldPayload(event).error.details?.['childStatus'] === undefined;
}

/** Nobody has answered in time. */
function isTimeout(event: RunEvent): boolean {
  if (event.type === 'approval.received') return foldPayload(event).action === 'timeout';
  return event.type === 'interrupt.resolved' && foldPayload(event).reason === 'timeout';
}
