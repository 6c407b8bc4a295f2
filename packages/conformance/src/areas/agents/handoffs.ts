import type { JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { errorOf, ofType, outline } from '../events/log.ts';

/**
 * An agent of a pack with schemas for both ways: a task has a `subject` and nothing else, a result a `kind`, which is `order` or
 * `question`. What its model says is said by the run.
 */
const HANDOFF = 'conformance-agent-pack-handoff';
const TASK: JsonObject = { subject: 'Where is it?' };
const RESULT = '{"kind":"order"}';

interface Ended {
  readonly snapshot: JsonObject;
  readonly events: readonly JsonObject[];
}

async function handedOver({ runs }: CheckContext, task: JsonObject, says: string): Promise<Ended> {
  const runId = await runs.create(HANDOFF, {
    inputs: { task },
    configurable: { mockProvider: { id: 'stream-text', config: { tokens: [says] } } },
  });
  const snapshot = await runs.ended(runId);
  return { snapshot, events: await runs.events(runId) };
}

function expectViolation({ expect }: CheckContext, { snapshot, events }: Ended, code: string): void {
  expect.equal(snapshot['status'], 'failed', 'the run fails');
  expect.equal(errorOf(snapshot)['code'], code, `the error of the run is ${code}`);
  expect.that(
    ofType(events, 'agent.decided', 'node.completed').length === 0,
    'the agent has decided nothing, and its node did not complete',
    outline(events),
  );
}

export const HANDOFF_CHECKS: readonly Check[] = [
  {
    id: 'agents/handoff-fits',
    title: 'an agent of a pack takes a task that fits, and returns a result that does',
    proves: ['AGENT-23'],
    needs: { fixtures: [HANDOFF] },
    async run(context) {
      const { expect } = context;

      const { snapshot, events } = await handedOver(context, TASK, RESULT);

      expect.equal(snapshot['status'], 'completed', 'a run whose task and result fit completes');
      expect.that(
        JSON.stringify(ofType(events, 'agent.decided', 'node.completed')).includes('order'),
        'the result is in the log',
        outline(events),
      );
    },
  },
  {
    id: 'agents/handoff-task',
    title: 'a task that does not fit is not given to an agent',
    proves: ['AGENT-23'],
    needs: { fixtures: [HANDOFF] },
    async run(context) {
      const { expect } = context;
      for (const task of [{}, { subject: 7 }, { ...TASK, more: true }]) {
        const ended = await handedOver(context, task, RESULT);

        expectViolation(context, ended, 'handoff_task_schema_violation');
        const asked = ofType(ended.events, 'provider.usage');
        expect.equal(asked.length, 0, 'no model is asked about a task that does not fit');
      }
    },
  },
  {
    id: 'agents/handoff-result',
    title: 'a result that does not fit is not recorded',
    proves: ['AGENT-23'],
    needs: { fixtures: [HANDOFF] },
    async run(context) {
      for (const says of ['{"kind":"joke"}', '{}', 'It is an order.'])
        expectViolation(context, await handedOver(context, TASK, says), 'handoff_return_schema_violation');
    },
  },
];
