import { describe, expect, it } from 'vitest';
import { createHistory } from './run-history.ts';
import { event, log, timeOf } from './testing/events.ts';

const question = { nodeId: 'gate', interruptId: 'gate:0', kind: 'approval' };

function historyOf(events: ReturnType<typeof log>) {
  const history = createHistory();
  history.append(events);
  return history;
}

describe('the view of a run', () => {
  it('follows its nodes through retries, questions and ends', () => {
    const history = historyOf(
      log(
        ['run.started'],
        ['node.started', 'call', { attempt: 0 }],
        ['node.retried', 'call', { attempt: 1, lastError: { code: 'broken', message: 'It broke.' } }],
        ['node.started', 'call', { attempt: 1 }],
        ['node.completed', 'call', { outputs: { x: 1 } }],
        ['node.started', 'gate', { attempt: 0 }],
        ['node.suspended', 'gate', question],
        ['node.failed', 'gate', { error: { code: 'approval_rejected', message: 'No.' } }],
        [
          'run.failed',
          undefined,
          { error: { code: 'approval_rejected', message: 'No.' }, failedNodeId: 'gate' },
        ],
      ),
    );

    expect(history.viewAt(2).nodes.get('call')).toMatchObject({
      status: 'retrying',
      note: 'broken: It broke.',
    });
    expect(history.viewAt(4).nodes.get('call')).toMatchObject({
      status: 'completed',
      attempt: 1,
      startedAt: timeOf(1),
      failures: [{ attempt: 0, note: 'broken: It broke.' }],
    });
    expect(history.viewAt(6)).toMatchObject({ status: 'waiting-approval', sequence: 6 });
    expect(history.viewAt(6).nodes.get('gate')?.waitsFor).toBe('an approval');
    expect(history.latest()).toMatchObject({
      status: 'failed',
      endedAt: timeOf(8),
      error: { code: 'approval_rejected', nodeId: 'gate' },
    });
    expect(history.viewAt(-1).status).toBe('pending');
  });

  it('tells the rounds of a loop apart, and names children and variables', () => {
    const view = historyOf(
      log(
        ['node.started', 'work', { iteration: [0] }],
        ['node.dispatched', 'work', { iteration: [0], childRunId: 'c', childWorkflowId: 'w' }],
        ['node.started', 'work', { iteration: [1] }],
        ['variable.changed', undefined, { name: 'total', next: 3 }],
      ),
    ).latest();

    expect([...view.nodes.keys()]).toEqual(['work[0]', 'work[1]']);
    expect(view.nodes.get('work[0]')).toMatchObject({ nodeId: 'work', childRunId: 'c' });
    expect(view.variables.get('total')).toBe(3);
  });

  it('is not changed by events that come later, nor by events that come twice', () => {
    const history = historyOf(log(['run.started'], ['node.started', 'a']));
    const before = history.viewAt(1);

    history.append([event(1, 'node.started', 'a'), event(2, 'node.completed', 'a')]);

    expect(before.nodes.get('a')?.status).toBe('running');
    expect(history.events.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });

  it('of any moment of a long log is what folding it from the start gives', () => {
    const events = Array.from({ length: 4_501 }, (_, sequence) =>
      event(
        sequence,
        sequence % 2 === 0 ? 'node.started' : 'node.completed',
        `n${Math.floor(sequence / 2) % 700}`,
      ),
    );
    const history = historyOf(events);

    for (const index of [0, 1_999, 2_000, 3_543, 4_500]) {
      const fromStart = historyOf(events.slice(0, index + 1)).latest();
      expect(history.viewAt(index)).toEqual(fromStart);
    }
  });
});
