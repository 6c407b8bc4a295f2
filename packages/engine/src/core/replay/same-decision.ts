import { type Fact, foldPayload, type RunEvent } from '../../model/run-event.ts';
import type { NodeType } from '../../model/node-type.ts';
import type { Plan } from '../compile/plan.ts';
import { isPausing, ON_THE_WAY } from './groups.ts';

/**
 * Whether two neighbours in a log were decided in one act, between which the host never stops: a replay that begins between them
 * must begin the act anew.
 */
export function isSameDecision(plan: Plan, before: RunEvent, after: RunEvent): boolean {
  if (before.type === 'replay.diverged' || before.type === 'cap.breached') return true;
  if (before.type === 'node.cancelled') return /^(node\.cancelled|run\.)/.test(after.type);
  if (isPausing(before)) return isPausing(after) || after.type === 'run.paused';
  if (before.nodeId === undefined || before.nodeId !== after.nodeId) return false;
  const kind = plan.nodes.get(before.nodeId)?.type.kind;
  return kind !== undefined && follows(kind, before, after);
}

function follows(kind: NodeType['kind'], before: RunEvent, after: RunEvent): boolean {
  switch (before.type) {
    case 'node.started':
      if (kind === 'effect') return false;
      // A delay of nothing is over at once; a loop over nothing too.
      return kind !== 'timer' || foldPayload(before).delayMs === 0;
    case 'node.suspended':
      return after.type === 'interrupt.requested' || after.type === 'conversation.opened';
    case 'conversation.opened':
    case 'interrupt.requested':
      return /^(channel\.written|interrupt\.requested|approval\.requested|clarification\.requested|conversation\.)/.test(
        after.type,
      );
    case 'conversation.exchanged':
    case 'approval.received':
    case 'clarification.resolved':
      return /^(channel\.written|interrupt\.resolved|conversation\.)/.test(after.type);
    case 'interrupt.resolved':
    case 'node.resumed':
    case 'conversation.closed':
    case 'log.appended':
    case 'version.pinned':
      return true;
    case 'channel.written':
      return !/^(approval|clarification)\.|^interrupt\.resolved/.test(after.type) || isTurn(before);
    default:
      return ON_THE_WAY.test(before.type);
  }
}

/** A turn of a conversation, kept in its channel: the conversation may be closed in the same act. */
function isTurn(event: Fact<'channel.written'>): boolean {
  return event.payload.reducer === 'message';
}
