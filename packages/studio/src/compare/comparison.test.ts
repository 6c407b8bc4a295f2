import type { RunDocument, RunEventDocument } from '@weft/sdk';
import { describe, expect, it } from 'vitest';
import { log } from '../run/testing/events.ts';
import { alignedRows, marksOf, strictDiff } from './comparison.ts';

const a = log(
  ['run.started'],
  ['node.completed', 'check', { outputs: { ok: false } }],
  ['node.completed', 'refuse'],
  ['run.completed'],
);
const b = log(
  ['run.started'],
  ['node.completed', 'extra'],
  ['node.completed', 'check', { outputs: { ok: true } }],
  ['run.completed'],
);

const side = (events: readonly RunEventDocument[], variables: object) => ({
  run: { runId: 'r', workflowId: 'w', status: 'completed', variables } as RunDocument,
  events,
});

describe('two runs', () => {
  it('are compared strictly by sequence, so that after an insertion everything differs', async () => {
    const strict = await strictDiff(side(a, { x: 1 }), side(b, { x: 2 }));

    expect(strict.divergedAtSeq).toBe(1);
    expect(strict.differences.map(({ seq, op }) => [seq, op])).toEqual([
      [1, 'changed'],
      [2, 'changed'],
    ]);
    expect(strict.stateChanges).toEqual([{ path: 'variables.x', a: 1, b: 2 }]);
  });

  it('are aligned by node, so that an insertion is one row', () => {
    const rows = alignedRows(a, b);

    expect(rows.map(({ op, place }) => [op, place])).toEqual([
      ['same', undefined],
      ['added', 'extra'],
      ['changed', 'check'],
      ['removed', 'refuse'],
      ['same', undefined],
    ]);
    expect(rows[2]?.changes).toEqual([{ path: 'outputs.ok', a: false, b: true }]);
  });

  it('colour the nodes of their graph', () => {
    expect([...marksOf(alignedRows(a, b))]).toEqual([
      ['extra', 'only-b'],
      ['check', 'changed'],
      ['refuse', 'only-a'],
    ]);
  });
});
