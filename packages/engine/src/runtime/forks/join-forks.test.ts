import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { createUnit, events, given, newRunId } from '../../store-contract/fixtures.ts';
import type { Store } from '../../ports/store.ts';
import { joinForks } from './join-forks.ts';

/** A store that counts how often a run's row is asked for. */
function counting(inner: Store): { readonly store: Store; rowsRead(): number } {
  let rows = 0;
  const readRun: Store['readRun'] = (runId, tenant) => {
    rows += 1;
    return inner.readRun(runId, tenant);
  };
  return { store: { ...inner, readRun }, rowsRead: () => rows };
}

describe('the joined logs of forks', () => {
  it('do not ask for the row of a run that is known to be no fork, and for that of a fork every time', async () => {
    const { store, rowsRead } = counting(openMemoryStore());
    const [source, fork] = [newRunId(), newRunId()];
    await given(store, createUnit(source, { events: events(0, 4) }));
    const record = { fork: { sourceRunId: source, fromSeq: 3, mode: 'branch' } } as const;
    await given(store, createUnit(fork, { record, expectedSeq: 3, events: events(3, 1) }));
    const joined = joinForks(store);
    await joined.readRun(source, 'acme');

    const none = await joined.readEvents(source, 4, 10, 10_000);
    const readForSource = rowsRead();
    const log = await joined.readEvents(fork, 0, 10, 10_000);
    const rest = await joined.readEvents(fork, 4, 10, 10_000);

    expect(none).toEqual([]);
    expect(readForSource).toBe(1);
    expect([...log, ...rest].map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    expect(rowsRead()).toBe(3);
  });
});
