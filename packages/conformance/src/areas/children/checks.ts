import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { expectEndedLog, ofNode, ofType, outline, payloadOf } from '../events/log.ts';

const PARENT = 'conformance-subworkflow-parent';
const CHILD = 'conformance-subworkflow-child';
const WAITING_PARENT = 'conformance-interrupt-parent-child-cancel';
const WAITING_CHILD = 'conformance-interrupt-parent-child-cancel-child';
const MAPPED = 'conformance-subworkflow-input-mapping';

export const CHILDREN_CHECKS: readonly Check[] = [
  {
    id: 'children/completed',
    title: 'a parent waits for its child and has its mapped variables',
    proves: ['CHILD-1', 'CHILD-2'],
    needs: { fixtures: [PARENT, CHILD] },
    async run(context) {
      const { runs, expect } = context;

      const { ended, childRunId, completed } = await finishedParent(context, PARENT);

      expect.equal(ended['status'], 'completed', 'the parent completes');
      const variables = expect.object(ended['variables'], 'the snapshot of the parent has variables');
      expect.equal(
        variables['childOutcome'],
        'child-completed',
        'the mapped variable of the child is a variable of the parent',
      );
      expect.equal(
        outputsOf(completed)['childStatus'],
        'completed',
        'the outputs of the invoking node have the childStatus',
      );
      const child = await runs.snapshot(childRunId);
      expect.equal(child['status'], 'completed', 'the child has completed when its parent has');
    },
  },
  {
    id: 'children/own-run',
    title: 'a child is a run of its own that names its parent',
    proves: ['CHILD-3', 'CHILD-4', 'CHILD-5'],
    needs: { fixtures: [PARENT, CHILD] },
    async run(context) {
      const { runs, expect } = context;

      const { runId, events, childRunId } = await finishedParent(context, PARENT);

      expect.that(childRunId !== runId, 'a child has a runId of its own', childRunId);
      const child = await runs.snapshot(childRunId);
      expect.equal(child['workflowId'], CHILD, 'the child is a run of the workflow that was invoked');
      expect.equal(child['parentRunId'], runId, 'the snapshot of the child has the parentRunId');
      expect.equal(child['parentNodeId'], 'subwf-call', 'the snapshot of the child has the parentNodeId');
      const own = await runs.events(childRunId);
      expectEndedLog(context, own);
      const nodesOf = (log: readonly JsonObject[]): unknown[] =>
        ofType(log, 'node.completed').map(({ nodeId }) => nodeId ?? 'nothing');
      expect.equal(nodesOf(own), ['child-n1', 'child-n2'], 'the log of the child has the nodes of the child');
      expect.equal(
        nodesOf(events),
        ['parent-start', 'subwf-call', 'parent-end'],
        'the log of the parent has the nodes of the parent alone',
      );
    },
  },
  {
    id: 'children/dispatched',
    title: 'a node.dispatched names the child and its workflow',
    proves: ['CHILD-6'],
    needs: { fixtures: [PARENT, CHILD] },
    async run(context) {
      const { expect } = context;

      const { events, childRunId, completed } = await finishedParent(context, PARENT);

      for (const event of ofType(events, 'node.dispatched')) {
        const payload = payloadOf(event);
        expect.equal(payload['childRunId'], childRunId, 'node.dispatched names the child');
        expect.equal(payload['childWorkflowId'], CHILD, 'node.dispatched names the workflow of the child');
        expect.that(
          events.indexOf(event) < events.indexOf(completed),
          'node.dispatched comes before the node completes',
          outline(events),
        );
      }
    },
  },
  {
    id: 'children/input-mapping',
    title: 'a mapped variable of the child has the value of the parent',
    proves: ['CHILD-7'],
    needs: { fixtures: [MAPPED, `${MAPPED}-child`] },
    async run(context) {
      const { runs, expect, unique } = context;
      const currentPrdId = unique('prd');

      const { childRunId } = await finishedParent(context, MAPPED, { inputs: { currentPrdId } });

      const child = await runs.snapshot(childRunId);
      const variables = expect.object(child['variables'], 'the snapshot of the child has variables');
      expect.equal(
        variables['receivedPrdId'],
        currentPrdId,
        'the mapped variable of the child has the value of the parent, not its default',
      );
    },
  },
  {
    id: 'children/unset-input-mapping',
    title: 'a variable that the parent has not set is not null for the child',
    proves: ['CHILD-8'],
    needs: { fixtures: [`${MAPPED}-no-default`, `${MAPPED}-child`] },
    async run(context) {
      const { runs, expect } = context;

      const { ended, childRunId } = await finishedParent(context, `${MAPPED}-no-default`);

      expect.equal(ended['status'], 'completed', 'a mapping of a variable that is not set is not an error');
      const { variables } = await runs.snapshot(childRunId);
      const received = isJsonObject(variables) ? variables['receivedPrdId'] : undefined;
      expect.that(received !== null, 'a variable that the parent has not set is not null', received);
    },
  },
  {
    id: 'children/failed-child',
    title: 'a child that fails fails its parent',
    proves: ['CHILD-10'],
    needs: { fixtures: [WAITING_PARENT, WAITING_CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await waitingParent(context);

      expect.status(await runs.resolve(child, 'child-gate', { action: 'reject' }), 200, 202);

      const { status } = await runs.ended(child);
      const ended = await runs.ended(parent);
      expect.equal(ended['status'], status, 'the parent ends as its child does');
      if (status !== 'failed') return;
      const events = await runs.events(parent);
      const [nodeFailed] = ofType(ofNode(events, 'spawn-child'), 'node.failed');
      const node = expect.object(nodeFailed, 'the invoking node of a failed child has node.failed');
      expect.that(
        events.indexOf(node) < events.findIndex(({ type }) => type === 'run.failed'),
        'node.failed of the invoking node comes before run.failed',
        outline(events),
      );
    },
  },
  {
    id: 'children/cancelled-parent',
    title: 'a cancel of the parent cancels its child',
    proves: ['CHILD-12', 'CHILD-13'],
    needs: { fixtures: [WAITING_PARENT, WAITING_CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await waitingParent(context);

      expect.status(await runs.cancel(parent), 200, 202);

      for (const runId of [parent, child]) {
        const ended = await runs.ended(runId);
        expect.equal(ended['status'], 'cancelled', 'the cancel of a parent cancels both runs');
      }
    },
  },
  {
    id: 'children/cancel-reason',
    title: 'a child that was cancelled with its parent says so',
    proves: ['CHILD-14'],
    needs: { fixtures: [WAITING_PARENT, WAITING_CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await waitingParent(context);
      await runs.cancel(parent);
      await runs.ended(parent);
      await runs.ended(child);

      const [ofChild] = ofType(await runs.events(child), 'run.cancelled');
      const [ofParent] = ofType(await runs.events(parent), 'run.cancelled');

      expect.equal(
        payloadOf(ofChild)['reason'],
        'parent-cancelled',
        'the reason of a child that was cancelled with its parent is parent-cancelled',
      );
      expect.equal(
        payloadOf(ofChild)['parentRunId'],
        parent,
        'the run.cancelled of the child names its parent',
      );
      expect.equal(
        payloadOf(ofParent)['parentRunId'],
        undefined,
        'the run.cancelled of the parent names no parentRunId',
      );
    },
  },
  {
    id: 'children/cancelled-child',
    title: 'a child that is cancelled by itself leaves its parent with an outcome',
    proves: ['CHILD-15'],
    needs: { fixtures: [WAITING_PARENT, WAITING_CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await waitingParent(context);

      expect.status(await runs.cancel(child), 200, 202);

      const ended = await runs.ended(child);
      expect.equal(ended['status'], 'cancelled', 'the child ends as cancelled');
      await runs.ended(parent);
      expectEndedLog(context, await runs.events(parent));
    },
  },
];

/** Runs a parent to its end, and finds its child by what the invoking node put out. */
async function finishedParent({ runs, expect }: CheckContext, workflow: string, rest: object = {}) {
  const runId = await runs.create(workflow, rest);
  const ended = await runs.ended(runId);
  const events = await runs.events(runId);
  const [found] = ofType(ofNode(events, 'subwf-call'), 'node.completed');
  const completed = expect.object(found, 'the invoking node completes');
  const childRunId = expect.string(
    outputsOf(completed)['childRunId'],
    'the outputs of the invoking node have the childRunId',
  );
  return { runId, ended, events, completed, childRunId };
}

function outputsOf(completed: JsonObject): JsonObject {
  const { outputs } = payloadOf(completed);
  return objectOf(outputs);
}

/** A parent whose child waits for an approval. */
async function waitingParent({ runs, expect, eventually }: CheckContext) {
  const parent = await runs.create(WAITING_PARENT);
  // A run may not be readable at once after it was created.
  await runs.reaches(parent, 'pending', 'running', 'waiting-approval');
  const child = await eventually('the parent lists its child in childRuns', async () => {
    const { childRuns } = await runs.snapshot(parent);
    const [first] = Array.isArray(childRuns) ? childRuns : [];
    return isJsonObject(first) && typeof first['runId'] === 'string' ? first['runId'] : undefined;
  });
  const waiting = await runs.reaches(child, 'waiting-approval');
  expect.equal(waiting['parentRunId'], parent, 'the child names its parent');
  return { parent, child };
}
