import { createHmac } from 'node:crypto';
import {
  comparable,
  type EventDocument,
  type FinalRun,
  type History,
  type SeenDelivery,
} from '../history.ts';

import { STARTED, STARTED_RUNS } from '../../started/testing/started-histories.ts';

/** A small history in which every rule finds something to look at and nothing to report; tests break it. */

export const AT = Date.parse('2026-01-01T00:00:00.000Z');

export function event(
  sequence: number,
  type: string,
  rest: { nodeId?: string; payload?: object } = {},
): string {
  const { nodeId, payload = {} } = rest;
  return JSON.stringify({
    sequence,
    type,
    timestamp: new Date(AT + sequence).toISOString(),
    ...(nodeId !== undefined && { nodeId }),
    payload: { ...(nodeId !== undefined && { nodeId }), ...payload },
  });
}

export const CALL = JSON.stringify({ tag: 'client-0', node: 'call-a', index: '-' });

/** A run that calls the service, asks a person, starts a child and completes. */
export const LOG = [
  event(0, 'run.started'),
  event(1, 'node.started', { nodeId: 'call-a', payload: { attempt: 0 } }),
  event(2, 'node.completed', { nodeId: 'call-a' }),
  event(3, 'node.started', { nodeId: 'gate', payload: { attempt: 0 } }),
  event(4, 'node.suspended', { nodeId: 'gate' }),
  event(5, 'approval.received', { nodeId: 'gate', payload: { interruptId: 'gate:0', decidedBy: 'ada' } }),
  event(6, 'interrupt.resolved', { nodeId: 'gate', payload: { interruptId: 'gate:0', voter: 'ada' } }),
  event(7, 'node.resumed', { nodeId: 'gate' }),
  event(8, 'node.completed', { nodeId: 'gate' }),
  event(9, 'node.started', { nodeId: 'sub', payload: { attempt: 0 } }),
  event(10, 'node.dispatched', { nodeId: 'sub', payload: { childRunId: 'child-1' } }),
  event(11, 'node.completed', { nodeId: 'sub' }),
  event(12, 'run.completed'),
];

export const RUN: FinalRun = {
  runId: 'run-1',
  workflowId: 'w',
  tags: ['client-0'],
  status: 'completed',
  log: LOG,
};
export const CHILD: FinalRun = {
  runId: 'child-1',
  workflowId: 'c',
  tags: [],
  parentRunId: 'run-1',
  status: 'completed',
  log: [event(0, 'run.started'), event(1, 'run.completed')],
};

export const SECRET = 'worth-keeping';
const renamed = (log: readonly string[], from: string, to: string): string[] =>
  log.map((text) => text.replaceAll(from, to));

/** A run with a callback, an artifact and a memory entry. */
export const KEPT_LOG = [
  event(0, 'run.started', { payload: { of: 'kept-1' } }),
  event(1, 'node.started', { nodeId: 'backgate-1', payload: { attempt: 0 } }),
  event(2, 'interrupt.requested', { nodeId: 'backgate-1', payload: { interruptId: 'backgate-1:0' } }),
  event(3, 'node.completed', { nodeId: 'backgate-1' }),
  event(4, 'node.started', { nodeId: 'call-kept', payload: { attempt: 0 } }),
  event(5, 'node.completed', {
    nodeId: 'call-kept',
    payload: { outputs: { artifact: { artifactId: 'a-1', digest: 'abc' } } },
  }),
  event(6, 'node.started', { nodeId: 'keep-1', payload: { attempt: 0 } }),
  event(7, 'node.completed', {
    nodeId: 'keep-1',
    payload: { outputs: { memoryId: 'm-1', memoryRef: 'notes' } },
  }),
  event(8, 'run.completed'),
];
export const LAST = KEPT_LOG.length - 1;
export const KEPT: FinalRun = {
  ...{ runId: 'kept-1', workflowId: 'w', tags: ['client-1', 'watched'], status: 'completed', log: KEPT_LOG },
  endedAt: new Date(AT + 4).toISOString(),
  notes: ['well done'],
  artifacts: [{ artifactId: 'a-1', digest: 'abc', bytes: 'abc' }],
};
export const RECALL: FinalRun = {
  ...{ runId: 'recall-1', workflowId: 'recall-notes', tags: ['last-0'], status: 'completed' },
  log: recalling([{ id: 'm-1', content: 'client-1' }]),
};

export function recalling(output: readonly object[]): string[] {
  return [
    event(0, 'run.started'),
    event(1, 'node.started', { nodeId: 'recall-1', payload: { attempt: 0 } }),
    event(2, 'node.completed', { nodeId: 'recall-1', payload: { outputs: { output } } }),
    event(3, 'run.completed'),
  ];
}

export const TASK = JSON.stringify({ tag: 'client-2', node: 'task-a', index: '-' });
export const ONCE = JSON.stringify({ tag: 'client-2', node: 'once-a', index: '-' });

/** A run with a task that was performed twice: its first worker was frozen. */
export const SERVED: FinalRun = {
  ...{ runId: 'served-1', workflowId: 'w', tags: ['client-2'], status: 'completed' },
  log: served('8-1'),
};

export function served(performance: string): string[] {
  return [
    event(0, 'run.started'),
    event(1, 'node.started', { nodeId: 'task-a', payload: { attempt: 0 } }),
    event(2, 'node.completed', { nodeId: 'task-a', payload: { outputs: { performance, call: TASK } } }),
    event(3, 'run.completed'),
  ];
}

const FORK_LINK = { sourceRunId: 'kept-1', fromSeq: 3 };
export const REPLAY: FinalRun = {
  ...{ runId: 'replay-1', workflowId: 'w', tags: ['client-1', 'watched'], status: 'completed' },
  fork: { ...FORK_LINK, mode: 'replay' },
  log: renamed(KEPT_LOG, 'kept-1', 'replay-1'),
};
export const BRANCH: FinalRun = {
  ...{ runId: 'branch-1', workflowId: 'w', tags: ['operator-1'], status: 'cancelled' },
  fork: { ...FORK_LINK, mode: 'branch' },
  endedAt: new Date(AT + 2).toISOString(),
  log: [
    ...renamed(KEPT_LOG.slice(0, 3), 'kept-1', 'branch-1'),
    event(3, 'node.cancelled', { nodeId: 'backgate-1' }),
    event(4, 'run.cancelled'),
  ],
};
export const IMPORT: FinalRun = {
  ...{
    runId: 'import-1',
    workflowId: 'w',
    tags: ['client-1'],
    status: 'completed',
    log: LOG,
    isImported: true,
  },
};

export function delivery(runId: string, text: string, more: Partial<SeenDelivery> = {}): SeenDelivery {
  const body = `{"runId":"${runId}","event":${text}}`;
  return { ...{ path: '/watched', webhookId: 'wh-1', status: 200, at: AT }, ...signed(body), ...more };
}

export function signed(body: string): Pick<SeenDelivery, 'body' | 'timestamp' | 'signature'> {
  const digest = createHmac('sha256', SECRET).update(`1.${body}`).digest('hex');
  return { body, timestamp: '1', signature: `sha256=${digest}` };
}

export const DELIVERED = KEPT_LOG.map((text) => delivery('kept-1', text));
export const CALLBACK: SeenDelivery = {
  ...{ path: '/callback', webhookId: 'callback', status: 200, at: AT },
  ...signed('{"runId":"kept-1","interruptId":"backgate-1:0"}'),
};

export const VALID: History = {
  seed: 1,
  store: 'postgres',
  created: [{ tag: 'client-0', runId: 'run-1' }],
  streams: [
    { runId: 'run-1', after: -1, events: streamed(0, 3) },
    { runId: 'run-1', after: 2, events: streamed(3, 13) },
  ],
  answers: [
    { runId: 'run-1', interruptId: 'gate:0', marker: 'ada', votes: 1, status: 200 },
    { runId: 'run-1', interruptId: 'gate:0', marker: 'bob', votes: 1, status: 409 },
  ],
  cancels: [{ runId: 'run-1', status: 'completed', at: AT }],
  unanswered: [],
  unexpectedResponses: [],
  crashing: ['crashing-1'],
  quarantined: ['crashing-1'],
  effects: [
    { call: 'keep', invocationId: 'id-9', at: AT, sent: 'abc', secret: SECRET },
    { call: CALL, invocationId: 'id-1', at: AT },
    { call: CALL, invocationId: 'id-1', at: AT + 900 },
  ],
  performances: [
    {
      ...{ performance: '7-1', pid: 7, call: TASK, invocationId: 'id-2', attempt: 1, begunAt: AT - 9_000 },
      endedAt: AT - 5_000,
    },
    {
      performance: '8-1',
      pid: 8,
      call: TASK,
      invocationId: 'id-2',
      attempt: 1,
      begunAt: AT - 6_000,
      endedAt: AT,
    },
    { performance: '9-1', pid: 9, call: ONCE, invocationId: 'id-3', attempt: 1, begunAt: AT },
  ],
  outages: [{ pid: 7, from: AT - 8_000, to: AT - 5_100 }],
  exits: [],
  runs: [RUN, CHILD, KEPT, RECALL, REPLAY, BRANCH, IMPORT, SERVED, ...STARTED_RUNS],
  forks: (['replay', 'branch'] as const).map((mode) => ({
    ...{ ...FORK_LINK, runId: `${mode}-1`, mode, at: AT, sourceEvents: 9, sourceEnded: true },
  })),
  imports: [
    {
      ...{ runId: 'import-1', sourceRunId: 'run-1', again: ['import-1', 'import-1'] },
      events: LOG.map((text) => comparable(JSON.parse(text) as EventDocument)),
    },
  ],
  removals: [{ runId: 'gone-1', askedAt: AT, at: AT + 1 }],
  erasures: [{ runId: 'run-1', log: LOG }],
  probes: [
    { runId: 'gone-1', request: 'GET /', status: 410, text: '{}' },
    { runId: 'run-1', request: 'GET /', status: 200, text: '{}' },
    { runId: 'run-1', request: 'POST :fork', status: 410, text: '{}' },
  ],
  annotations: [{ runId: 'kept-1', marker: 'well done' }],
  webhooks: [{ webhookId: 'wh-1', secret: SECRET, events: ['*'], tags: ['watched'] }],
  deliveries: [...DELIVERED, CALLBACK],
  dead: [],
  callbackSecret: SECRET,
  secret: SECRET,
  started: STARTED,
};

export function streamed(from: number, to: number) {
  return LOG.slice(from, to).map((text, index) => ({ sequence: from + index, text, at: AT + 1_000 + from }));
}
