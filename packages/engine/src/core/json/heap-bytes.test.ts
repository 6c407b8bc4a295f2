import { describe, expect, it } from 'vitest';
import { newNode, newRunState } from '../fold/blank-state.ts';
import { heapBytesOf, runBytes } from './heap-bytes.ts';
import type { CreationRecord } from '../../model/run-state.ts';

/** Measured on Node 20: bytes of heap per run that was created with such inputs and is held. */
const MEASURED = [
  ['a long text', 'x'.repeat(900_000), 973 * 1024],
  ['many objects', Array.from({ length: 24_600 }, (_, id) => ({ id, name: `n${id % 10}` })), 2_707 * 1024],
  ['many empty objects', Array.from({ length: 300_000 }, () => ({})), 19_519 * 1024],
  ['many names', Array.from({ length: 68_000 }, (_, index) => ({ [`k${index}`]: 1 })), 12_443 * 1024],
  ['many numbers', Array.from({ length: 450_000 }, () => 1), 4_634 * 1024],
] as const;

const record = (inputs: CreationRecord['inputs']): CreationRecord =>
  ({ inputs, configurable: {}, metadata: {} }) as unknown as CreationRecord;

describe('the memory that a value takes', () => {
  it.each(MEASURED)('is estimated within a factor of two: %s', (_, value, measured) => {
    const estimated = heapBytesOf(value);

    expect(estimated).toBeGreaterThan(measured / 2);
    expect(estimated).toBeLessThan(measured * 2);
  });

  it('of a run is that of all values it holds, and an input that became a variable counts once', () => {
    const big = 'x'.repeat(10_000);
    const state = newRunState(new Map([['big', big]]), new Map(), 0);
    const alone = runBytes(record({ big }), state);
    expect(alone).toBeLessThan(20_000);

    state.variables.set('other', 'y'.repeat(10_000));
    state.channels.set('channel', 'z'.repeat(10_000));
    state.nodes.set('n', { ...newNode('n', [], 0), outputs: { out: 'o'.repeat(10_000) } });

    expect(runBytes(record({ big }), state) - alone).toBeGreaterThan(30_000);
    expect(runBytes(record({ big }), state) - alone).toBeLessThan(32_000);
  });
});
