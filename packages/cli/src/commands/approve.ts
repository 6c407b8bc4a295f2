import type { ArgsDef } from 'citty';
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

/** The commands differ in the action they send. */
function vote(action: 'accept' | 'reject', words: { name: string; summary: string; reason: string }) {
  const { name, summary, reason } = words;
  return leaf({
    name,
    summary,
    examples: [`weft ${name} RUN`, `weft ${name} RUN manager --feedback "${reason}" --voter ada`],
    args: VOTE_ARGS,
    run({ cli, args }) {
      const { run: runId, node, feedback, voter } = args;
      const value = {
        action,
        ...(feedback !== undefined && { feedback }),
        ...(voter !== undefined && { voter }),
      };
      return answerQuestion(cli, args, { runId, node, kind: 'approval', value });
    },
  });
}

export const approve = vote('accept', {
  name: 'approve',
  summary: 'Accept an approval that a run is waiting for',
  reason: 'within budget',
});

export const reject = vote('reject', {
  name: 'reject',
  summary: 'Reject an approval that a run is waiting for',
  reason: 'no receipt',
});
