import { isJsonObject, type JsonObject } from '@weft/protocol';
import { events, numbered, omit, payloads, run, variables } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { CREATE, POLL, SNAPSHOT } from '../../mutants/targets.ts';

export const CHILDREN_MUTANTS: readonly Mutant[] = [
  {
    id: 'children/not-mapped',
    breaks: 'the variables of the child are not mapped',
    caughtBy: ['children/completed'],
    says: /mapped variable of the child is a variable of the parent/,
    on: SNAPSHOT,
    answer: variables(() => ({})),
  },
  {
    id: 'children/status-left-out',
    breaks: 'the invoking node does not say how the child ended',
    caughtBy: ['children/completed'],
    says: /have the childStatus/,
    on: POLL,
    answer: outputs((given) => omit(given, 'childStatus')),
  },
  {
    id: 'children/id-left-out',
    breaks: 'the invoking node does not name the child',
    caughtBy: ['children/completed', 'children/own-run'],
    says: /have the childRunId/,
    on: POLL,
    answer: outputs((given) => omit(given, 'childRunId')),
  },
  {
    id: 'children/parent-does-not-wait',
    breaks: 'a parent completes before its child',
    caughtBy: ['children/completed'],
    says: /child has completed when its parent has/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['parentRunId'] === undefined ? snapshot : { ...snapshot, status: 'running' },
    ),
  },
  {
    id: 'children/parent-not-named',
    breaks: 'a child does not name the node that invoked it',
    caughtBy: ['children/own-run'],
    says: /has the parentNodeId/,
    on: SNAPSHOT,
    answer: run((snapshot) => omit(snapshot, 'parentNodeId')),
  },
  {
    id: 'children/child-in-parents-log',
    breaks: 'the nodes of the child are in the log of the parent',
    caughtBy: ['children/own-run'],
    says: /nodes of the parent alone/,
    on: POLL,
    answer: events((all) =>
      numbered(
        all.flatMap((event) =>
          event['nodeId'] === 'subwf-call' && event['type'] === 'node.completed'
            ? [{ ...event, nodeId: 'child-n1' }, event]
            : [event],
        ),
      ),
    ),
  },
  {
    id: 'children/other-workflow-dispatched',
    breaks: 'node.dispatched names the workflow of the parent',
    caughtBy: ['children/dispatched'],
    says: /names the workflow of the child/,
    on: POLL,
    answer: payloads('node.dispatched', (payload) => ({
      ...payload,
      childWorkflowId: 'conformance-subworkflow-parent',
    })),
  },
  {
    id: 'children/default-wins',
    breaks: 'the default of the child wins over the mapping',
    caughtBy: ['children/input-mapping'],
    says: /not its default/,
    on: CREATE,
    request: sent((body) => omit(body, 'inputs')),
  },
  {
    id: 'children/unset-is-null',
    breaks: 'a variable that is not set is mapped as null',
    caughtBy: ['children/unset-input-mapping'],
    says: /is not null/,
    on: SNAPSHOT,
    answer: variables(() => ({ receivedPrdId: null })),
  },
  {
    id: 'children/failure-absorbed',
    breaks: 'a parent completes although its child failed',
    caughtBy: ['children/failed-child'],
    says: /parent ends as its child does/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['parentRunId'] === undefined && snapshot['status'] === 'failed'
        ? { ...snapshot, status: 'completed' }
        : snapshot,
    ),
  },
  {
    id: 'children/failure-without-node',
    breaks: 'a parent fails without a failure of its node',
    caughtBy: ['children/failed-child'],
    says: /has node\.failed/,
    on: POLL,
    answer: events((all) => numbered(all.filter(({ type }) => type !== 'node.failed'))),
  },
  {
    id: 'children/child-outlives-cancel',
    breaks: 'a child completes although its parent was cancelled',
    caughtBy: ['children/cancelled-parent'],
    says: /cancels both runs/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['parentRunId'] !== undefined && snapshot['status'] === 'cancelled'
        ? { ...snapshot, status: 'completed' }
        : snapshot,
    ),
  },
  {
    id: 'children/reason-left-out',
    breaks: 'a child does not say that it was cancelled with its parent',
    caughtBy: ['children/cancel-reason'],
    says: /is parent-cancelled/,
    on: POLL,
    answer: payloads('run.cancelled', (payload) => omit(payload, 'reason')),
  },
  {
    id: 'children/parent-of-the-parent',
    breaks: 'the cancelled parent names itself as its parent',
    caughtBy: ['children/cancel-reason'],
    says: /run\.cancelled of the parent names no parentRunId/,
    on: POLL,
    answer: payloads('run.cancelled', (payload) => ({ parentRunId: 'itself', ...payload })),
  },
  {
    id: 'children/parent-ends-twice',
    breaks: 'a parent whose child was cancelled ends twice',
    caughtBy: ['children/cancelled-child'],
    says: /exactly one terminal event/,
    on: POLL,
    answer: events((all) => numbered([...all, ...all.slice(-1)])),
  },
];

/** Changes what the invoking node put out. */
function outputs(change: (given: JsonObject) => JsonObject): Required<Mutant>['answer'] {
  return payloads('node.completed', (payload) =>
    isJsonObject(payload['outputs']) ? { ...payload, outputs: change(payload['outputs']) } : payload,
  );
}
