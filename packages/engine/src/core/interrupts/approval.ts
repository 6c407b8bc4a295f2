import { type JsonObject, nameProblem } from '@weft/protocol';
import type { Payload } from '../../model/run-event.ts';
import type { InterruptState, Vote } from '../../model/run-state.ts';
import { pick } from '../json/pick.ts';
import { type Answer, type Evaluation, type KindRules, refused, rejected } from './kind-rules.ts';

/** Approvals count votes. Silence is never consent. */
export const APPROVAL: KindRules = {
  evaluate,
  requested: (place, shown, data) => ({
    type: 'approval.requested',
    payload: {
      ...place,
      artifactId: shown['artifactId'] ?? '',
      artifactType: shown['artifactType'] ?? '',
      actions: (data['actions'] as string[]).map((action) => (action === 'edit-accept' ? 'edit' : action)),
      ...pick(shown, ['title', 'approversList', 'requiredApprovals']),
    } as Payload<'approval.requested'>,
  }),
  received: (place, answer, voter) => ({
    type: 'approval.received',
    payload: {
      ...place,
      action: answer['action'] as string,
      ...(voter !== undefined && { decidedBy: voter }),
      ...pick(answer, ['comment', 'feedback', 'refineFeedback', 'editedArtifactData']),
    } as Payload<'approval.received'>,
  }),
  silentAnswer: { action: 'timeout' },
};

function evaluate(interrupt: InterruptState, answer: Answer): Evaluation {
  const value = withAction(answer.value);
  const { data } = interrupt;
  const allowed = data['actions'] as string[];
  const action = value['action'];
  if (typeof action !== 'string' || !allowed.includes(action)) {
    return refused(`resumeValue.action must be one of ${allowed.join(', ')}.`, 'resumeValue.action', {
      allowed,
    });
  }
  if (action === 'edit-accept' && value['editedArtifactData'] === undefined) {
    return refused('edit-accept needs resumeValue.editedArtifactData.', 'resumeValue.editedArtifactData');
  }
  const voter = voterOf(data, value, answer);
  if (typeof voter !== 'string') return voter;
  if (action === 'ask') return { type: 'noted', value, voter };
  const votes: Vote[] = [...interrupt.votes.filter((vote) => vote.voter !== voter), { voter, action }];
  const type = tally(data, votes);
  if (type === 'rejected') return rejected({ value, voter }, 'approval_rejected', 'The approval');
  return { type, value, voter };
}

/** Accepted with enough accepting votes; rejected by the first rejection, or by a majority of those required. */
function tally(data: JsonObject, votes: readonly Vote[]): 'vote' | 'accepted' | 'rejected' {
  const required = typeof data['requiredApprovals'] === 'number' ? data['requiredApprovals'] : 1;
  const rejects = votes.filter(({ action }) => action === 'reject').length;
  const needed = data['rejectionPolicy'] === 'majority' ? Math.floor(required / 2) + 1 : 1;
  if (rejects >= needed) return 'rejected';
  return votes.length - rejects >= required ? 'accepted' : 'vote';
}

/**
 * A user's own identity is the voter. A service key may vote for another only where the question names no approvers. A link is
 * one vote, whatever names its holder gives.
 */
function voterOf(data: JsonObject, value: JsonObject, answer: Answer): string | Evaluation {
  const named = value['voter'];
  const list = Array.isArray(data['approversList']) ? (data['approversList'] as string[]) : [];
  const voter =
    !answer.byUser && !answer.viaLink && list.length === 0 && typeof named === 'string' && named !== ''
      ? named
      : answer.by;
  const problem = nameProblem(voter);
  if (problem !== undefined) return refused(`resumeValue.voter ${problem}.`, 'resumeValue.voter');
  if (list.length === 0 || list.includes(voter)) return voter;
  return {
    type: 'refused',
    code: 'forbidden',
    message: 'This question is for others to answer: the key’s principal is not in approversList.',
  };
}

const LEGACY_DECISIONS: Readonly<Record<string, string>> = { approved: 'accept', rejected: 'reject' };

/** Older clients send a decision instead of an action; a rejection with feedback asks for refinement. */
function withAction(value: JsonObject): JsonObject {
  const decision = value['decision'];
  if (value['action'] !== undefined || typeof decision !== 'string') return value;
  const { decision: _dropped, ...rest } = value;
  if (decision === 'rejected' && typeof value['feedback'] === 'string') {
    return { ...rest, action: 'refine', refineFeedback: { scope: 'whole', text: value['feedback'] } };
  }
  return { ...rest, action: LEGACY_DECISIONS[decision] ?? decision };
}
