import { describe, expect, it } from 'vitest';
import type { NodeView } from '../run/run-fold.ts';
import { foldText, rowsOf, stateOf, summariesOf } from './node-summary.ts';

const round = (key: string, status: NodeView['status'], more: Partial<NodeView> = {}): NodeView => ({
  sequence: 0,
  key,
  nodeId: key.replace(/\[.*/, ''),
  status,
  attempt: 0,
  failures: [],
  ...more,
});
const stateIn = (...rounds: NodeView[]) => {
  const state = summariesOf(rounds).get('work');
  if (state === undefined) throw new Error('no work');
  return state;
};
const noChild = () => undefined;

describe('the state of a drawn node', () => {
  it('is that of its rounds which a person should see first', () => {
    const state = stateIn(
      round('work[0]', 'completed'),
      round('work[1]', 'failed'),
      round('work[2]', 'running'),
    );

    expect(state).toMatchObject({ status: 'failed', done: 1, attempt: 0 });
    expect(foldText(state)).toBe('1 of 3 rounds done');
  });

  it('of a closed loop is what its body waits for, until the loop has ended', () => {
    const loop = {
      id: 'loop',
      label: '',
      typeId: 'core.loop',
      members: ['loop', 'work'],
      loop: 'closed' as const,
    };
    const states = (status: NodeView['status']) =>
      summariesOf([round('loop', status), round('work[0]', 'waiting'), round('work[1]', 'failed')]);

    expect(stateOf({ ...loop, members: ['loop'] }, states('running'))?.status).toBe('running');
    expect(stateOf(loop, states('running'))?.status).toBe('failed');
    expect(stateOf(loop, states('completed'))?.status).toBe('completed');
  });
});

describe('an opened node', () => {
  it('lists its newest rounds, and counts the others', () => {
    const rows = rowsOf(
      stateIn(...Array.from({ length: 1_010 }, (_, index) => round(`work[${index}]`, 'completed'))),
      noChild,
    );

    expect(rows.map(({ text }) => text)).toEqual([
      '1,005 earlier',
      ...[1_005, 1_006, 1_007, 1_008, 1_009].map((index) => `work[${index}]`),
    ]);
  });

  it('lists its attempts with what they failed with', () => {
    const failures = [{ attempt: 0, note: 'busy: Try later.' }];
    const state = stateIn(round('work', 'completed', { attempt: 1, failures }));

    expect(foldText(state)).toBe('2 attempts');
    expect(rowsOf(state, noChild)).toEqual([
      { key: 'work#0', status: 'failed', text: 'attempt 1', more: 'busy: Try later.' },
      { key: 'work#1', status: 'completed', text: 'attempt 2' },
    ]);
  });

  it('lists the nodes of its child run below the way to it', () => {
    const nodes = Array.from({ length: 9 }, (_, index) => ({ id: `n${index}`, status: 'completed' }));
    const rows = rowsOf(stateIn(round('work', 'completed', { childRunId: 'c/1' })), () => ({
      status: 'running',
      nodes,
    }));

    expect(rows[0]).toMatchObject({ status: 'running', href: '#/runs/c%2F1' });
    expect(rows.slice(1).map(({ text }) => text)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', '4 more nodes']);
  });
});
