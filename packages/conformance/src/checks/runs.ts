import type { Check } from '../suite/check.ts';

export const RUN_CHECKS: readonly Check[] = [
  {
    id: 'runs/create',
    title: 'a run is created, and ends',
    proves: ['RUN-1'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const answer = await runs.tryCreate('conformance-noop');

      expect.status(answer, 201);
      const created = expect.object(answer.json, 'a created run is answered with an object');
      const runId = expect.string(created['runId'], 'a created run has a runId');
      expect.string(created['status'], 'a created run has a status');
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run of one node that does nothing completes');
    },
  },
];
