import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunHead, Store, StoredEvent, WriteResult } from '../ports/store.ts';
import { appendUnit, completed, createUnit, event, newRunId, readAll, running } from './fixtures.ts';
import type { Subject } from './subject.ts';

interface ModelRun {
  log: StoredEvent[];
  epoch: number;
  head: RunHead;
  isHeld: boolean;
}

/** One writer's step: what it believes (off by `epochError` and `seqError` from the truth) and what it wants to write. */
interface Step {
  readonly run: number;
  readonly kind: 'create' | 'append' | 'end' | 'release' | 'claim';
  readonly count: number;
  readonly epochError: number;
  readonly seqError: number;
  /** Ends the group: everything gathered so far is committed. */
  readonly flush: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  run: fc.nat(2),
  kind: fc.constantFrom('create', 'append', 'append', 'append', 'release', 'claim', 'end'),
  count: fc.nat(4),
  epochError: fc.constantFrom(0, 0, 0, 0, -1, 1),
  seqError: fc.constantFrom(0, 0, 0, 0, -1, 1),
  flush: fc.boolean(),
});

/** Random interleavings against a model of a few lines. */
export function interleavingContract(subject: Subject): void {
  describe('any interleaving of writers', () => {
    it('keeps every log gap-free and equal to the model', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          await subject.store.heartbeat('h1', 1e9);
          const world = newWorld(subject.store);

          for (const each of steps) await world.take(each);
          await world.flush();

          for (const [runId, run] of world.runs) {
            const log = await readAll(subject.store, runId);
            expect(log.map(({ seq }) => seq)).toEqual([...log.keys()]);
            expect(log).toEqual(run.log);
            expect(await subject.store.readRun(runId, undefined)).toMatchObject({
              head: run.head,
              nextSeq: run.log.length,
              epoch: run.epoch,
            });
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

function newWorld(store: Store) {
  const ids = [newRunId(), newRunId(), newRunId()];
  const runs = new Map<string, ModelRun>();
  let group: { unit: ReturnType<typeof appendUnit>; expected: WriteResult }[] = [];

  async function flush(): Promise<void> {
    const pending = group;
    group = [];
    expect(await store.commit(pending.map(({ unit }) => unit))).toEqual(
      pending.map(({ expected }) => expected),
    );
  }

  function write(runId: string, each: Step): void {
    const run = runs.get(runId);
    const head = each.kind === 'end' ? completed : running;
    const from = Math.max((run?.log.length ?? 0) + each.seqError, 0);
    const written = Array.from({ length: each.count }, (_, index) =>
      event(from + index, 'log', { payload: `${runs.size}` }),
    );
    const epoch = (run?.epoch ?? 0) + each.epochError;
    const more = { epoch, events: written, head, release: each.kind === 'release' };
    group.push({ unit: appendUnit(runId, from, more), expected: expectedOf(run, epoch, from) });
    if (!run || group.at(-1)?.expected.state !== 'committed') return;
    run.log.push(...written);
    run.head = head;
    if (each.kind !== 'append') run.isHeld = false;
  }

  function create(runId: string, each: Step): void {
    const exists = runs.has(runId);
    const unit = createUnit(runId, {
      holder: 'h1',
      events: Array.from({ length: each.count }, (_, seq) => event(seq)),
    });
    group.push({
      unit,
      expected: exists ? { state: 'refused', reason: 'run_exists' } : { state: 'committed' },
    });
    if (!exists) runs.set(runId, { log: [...unit.events], epoch: 1, head: running, isHeld: true });
  }

  async function claim(runId: string): Promise<void> {
    await flush();
    const run = runs.get(runId);
    const result = await store.claim(runId, 'h1');
    if (!run) expect(result).toEqual({ state: 'missing' });
    else if (run.head === completed) expect(result).toEqual({ state: 'terminal' });
    else if (run.isHeld) expect(result).toEqual({ state: 'held', holder: 'h1' });
    else {
      run.epoch += 1;
      run.isHeld = true;
      expect(result).toEqual({ state: 'claimed', epoch: run.epoch });
    }
  }

  return {
    runs,
    flush,
    async take(each: Step): Promise<void> {
      const runId = ids[each.run] ?? '';
      if (each.kind === 'claim') return claim(runId);
      if (each.kind === 'create') create(runId, each);
      else write(runId, each);
      if (each.flush) await flush();
    },
  };
}

function expectedOf(run: ModelRun | undefined, epoch: number, from: number): WriteResult {
  if (!run) return { state: 'refused', reason: 'run_missing' };
  if (epoch !== run.epoch) return { state: 'refused', reason: 'stale_epoch' };
  if (run.head === completed) return { state: 'refused', reason: 'run_terminal', status: 'completed' };
  if (!run.isHeld) return { state: 'refused', reason: 'stale_epoch' };
  return from === run.log.length ? { state: 'committed' } : { state: 'refused', reason: 'sequence_conflict' };
}
