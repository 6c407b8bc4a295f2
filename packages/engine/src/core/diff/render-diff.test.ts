import { canonicalJson, type Json, type RunSnapshot } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { EventDifference } from './diff-events.ts';
import { renderDiff, type RunDiff } from './render-diff.ts';
import { stateDiff } from './state-diff.ts';

async function* listed(differences: readonly EventDifference[]): AsyncGenerator<EventDifference> {
  yield* differences;
}

async function text(diff: RunDiff): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of renderDiff(diff)) pieces.push(piece);
  return pieces.join('');
}

const snapshot = (rest: Partial<RunSnapshot>): RunSnapshot => ({
  runId: 'r',
  workflowId: 'w',
  status: 'completed',
  ...rest,
});

describe('the document of a diff', () => {
  const differences: EventDifference[] = [
    { seq: 3, op: 'changed', aEvent: '{"z":1,"a":{"c":1.0,"b":2}}', bEvent: '{"b":1e2}' },
    { seq: 4, op: 'removed', aEvent: '{"é":"\\u0041"}' },
    { seq: 5, op: 'added', bEvent: '{}' },
  ];
  const diff = { a: 'x"', b: 'y', divergedAtSeq: 3, stateDiff: { b: 1, a: 2 }, truncated: true };

  it('is canonical from its first byte to its last', async () => {
    const written = await text({ ...diff, differences: listed(differences) });

    expect(written).toBe(canonicalJson(JSON.parse(written) as Json));
    expect(JSON.parse(written)).toEqual({
      ...diff,
      eventDiffs: [
        { seq: 3, op: 'changed', aEvent: { z: 1, a: { c: 1, b: 2 } }, bEvent: { b: 100 } },
        { seq: 4, op: 'removed', aEvent: { é: 'A' } },
        { seq: 5, op: 'added', bEvent: {} },
      ],
    });
  });

  it('says of equal, finished runs only that they are equal', async () => {
    const equal = { a: 'x', b: 'y', divergedAtSeq: null, stateDiff: {}, truncated: false };

    expect(await text({ ...equal, differences: listed([]) })).toBe(
      '{"a":"x","b":"y","divergedAtSeq":null,"eventDiffs":[],"stateDiff":{}}',
    );
  });

  it('comes in pieces when it is long', async () => {
    const long = JSON.stringify({ text: 'x'.repeat(10_000) });
    const many = Array.from(
      { length: 10 },
      (_, seq): EventDifference => ({ seq, op: 'removed', aEvent: long }),
    );
    const pieces: string[] = [];

    for await (const piece of renderDiff({ ...diff, differences: listed(many) })) pieces.push(piece);

    expect(pieces.length).toBeGreaterThan(4);
  });
});

describe('the difference of two states', () => {
  it('shows whole values, only where they differ, and null for what is not there', () => {
    const a = snapshot({ variables: { x: 1, y: 2 }, channels: { c: [1] } });
    const b = snapshot({ status: 'failed', variables: { y: 2, x: 1 } });

    expect(stateDiff(a, b)).toEqual({
      status: { a: 'completed', b: 'failed' },
      channels: { a: { c: [1] }, b: null },
    });
    expect(stateDiff(a, a)).toEqual({});
  });
});
