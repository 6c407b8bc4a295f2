import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import { inTurn, runCooperatively } from './run-cooperatively.ts';

/** Turns of the event loop so far. */
let turn = 0;
let next: NodeJS.Immediate;

beforeEach(() => {
  const count = (): void => {
    turn += 1;
    next = setImmediate(count);
  };
  count();
});

afterEach(() => clearImmediate(next));

function* counted(count: number, onStep: (step: number) => void): CooperativeTask<string> {
  for (let step = 0; step < count; step++) {
    onStep(step);
    yield;
  }
  return 'done';
}

/** A clock on which every step takes as long as one turn may last. */
function slowClock(): () => number {
  let now = 0;
  return () => (now += 1_000);
}

/** What works before have taken does not count any more. */
async function aNewTurn(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('long work in turns', () => {
  it('lets other tasks go first whenever its time is up', async () => {
    const turns = new Set<number>();

    const result = await runCooperatively(
      't',
      counted(20, () => turns.add(turn)),
      slowClock(),
    );

    expect(result).toBe('done');
    expect(turns.size).toBe(20);
  });

  it('gives each turn to one of several', async () => {
    const namesByTurn = new Map<number, Set<string>>();
    const work = (name: string): Promise<string> => {
      const steps = counted(20, (step) => {
        // The first step of each is taken at once.
        if (step > 0) namesByTurn.set(turn, (namesByTurn.get(turn) ?? new Set()).add(name));
      });
      return runCooperatively(name, steps, slowClock());
    };

    await Promise.all(['a', 'b', 'c', 'd'].map(work));

    expect([...namesByTurn.values()].every((names) => names.size === 1)).toBe(true);
    expect(namesByTurn.size).toBe(4 * 19);
  });

  it('gives every second turn to a tenant with one task next to another with a hundred (Q-6)', async () => {
    const order: string[] = [];
    const work = (tenant: string, count: number): Promise<string> =>
      runCooperatively(
        tenant,
        counted(count, (step) => void (step > 0 && order.push(tenant))),
        slowClock(),
      );

    const greedy = Array.from({ length: 100 }, () => work('greedy', 11));
    await work('modest', 11);

    expect(order.filter((tenant) => tenant === 'modest')).toHaveLength(10);
    expect(order.length).toBeLessThanOrEqual(20);
    await Promise.all(greedy);
  });

  it('does what is short of one tenant before the next piece of what is long of another (Q-10)', async () => {
    const order: string[] = [];
    const long = runCooperatively(
      'greedy',
      counted(20, (step) => void (step > 0 && order.push('greedy'))),
      slowClock(),
    );
    const short = Array.from({ length: 6 }, () => inTurn('modest', async () => void order.push('modest')));

    await Promise.all(short);

    expect(order.filter((tenant) => tenant === 'greedy').length).toBeLessThanOrEqual(1);
    await long;
    expect(order).toHaveLength(6 + 19);
  });

  it('does short work at once (Q-6)', async () => {
    await aNewTurn();
    let steps = 0;

    void runCooperatively(
      't',
      counted(100, () => steps++),
      () => 0,
    );

    expect(steps).toBe(100);
  });

  it('does not begin a crowd of works in one turn (Q-5)', async () => {
    const begun = new Set<number>();
    const crowd = Array.from({ length: 20 }, (_, index) =>
      runCooperatively(
        `t${index}`,
        counted(1, () => begun.add(turn)),
        slowClock(),
      ),
    );
    await Promise.all(crowd);

    expect(begun.size).toBe(20);
  });

  it('passes on what the work throws', async () => {
    const failing = counted(5, (step) => {
      if (step === 3) throw new Error('broken');
    });

    await expect(runCooperatively('t', failing, slowClock())).rejects.toThrow('broken');
  });

  it('does a crowd of pieces as far as there is room in a turn, and the others later', async () => {
    await aNewTurn();
    const turns: number[] = [];
    const piece = (): Promise<void> =>
      inTurn('t', () => {
        turns.push(turn);
        for (const until = performance.now() + 2; performance.now() < until; );
        return Promise.resolve();
      });

    await Promise.all(Array.from({ length: 12 }, piece));

    const perTurn = new Map<number, number>();
    for (const each of turns) perTurn.set(each, (perTurn.get(each) ?? 0) + 1);
    expect(turns).toHaveLength(12);
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(3);
  });
});
