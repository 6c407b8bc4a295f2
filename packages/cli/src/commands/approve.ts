import type { ArgsDef } from 'citty';
import type { JsonObject } from '@weft/protocol';
import { QUESTION_ARGS, answerQuestion } from '../interrupts/answer-question.ts';
import { leaf } from '../parsing/command.ts';

const VOTE_ARGS = {
  ...QUESTION_ARGS,
  feedback: { type: 'string', valueHint: 'TEXT', description: 'Reason; recorded in the run’s log' },
  voter: {
    type: 'string',
    valueHint: 'NAME',
    description: 'On whose behalf a service key votes; a user’s key always votes for its user',
  },
} as const satisfies ArgsDef;

interface VoteArgs {
  readonly feedback?: string | undefined;
  readonly voter?: string | undefined;
}

export const approve = leaf({
  name: 'approve',
  summary: 'Accept an approval that a run is waiting for',
  examples: ['weft approve RUN', 'weft approve RUN manager --feedback "within budget" --voter ada'],
  args: VOTE_ARGS,
  run: ({ cli, args }) =>
    answerQuestion(cli, args, {
      runId: args.run,
      node: args.node,
      kind: 'approval',
      value: voteOf('accept', args),
    }),
});

export const reject = leaf({
  name: 'reject',
  summary: 'Reject an approval that a run is waiting for',
  examples: ['weft reject RUN', 'weft reject RUN manager --feedback "no receipt" --voter ada'],
  args: VOTE_ARGS,
  run: ({ cli, args }) =>
    answerQuestion(cli, args, {
      runId: args.run,
      node: args.node,
      kind: 'approval',
      value: voteOf('reject', args),
    }),
});

function voteOf(action: string, { feedback, voter }: VoteArgs): JsonObject {
  return {
    action,
    ...(feedback !== undefined && { feedback }),
    ...(voter !== undefined && { voter }),
  };
}
