import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueue, type FairQueue, type Ticket } from './fair-queue.ts';

function takeAll<Item>(queue: FairQueue<Item>): Item[] {
  const taken: Item[] = [];
  for (let ticket = queue.take(); ticket !== undefined; ticket = queue.take()) taken.push(ticket.item);
  return taken;
}

describe('a fair queue', () => {
  it('serves a tenant that has just come before the second item of one with thousands', () => {
    const queue = createFairQueue<string>();
    for (let count = 0; count < 20_000; count += 1) queue.push(`a${count}`, 'a');
    queue.push('b0', 'b');

    expect([queue.take(), queue.take(), queue.take()].map((ticket) => ticket?.item)).toEqual([
      'a0',
      'b0',
      'a1',
    ]);
  });

  it('shares between tenants first, then between the runs of one', () => {
    const queue = createFairQueue<string>();
    for (const [item, tenant, run] of [
      ['a1', 'a', '1'],
      ['a1+', 'a', '1'],
      ['a2', 'a', '2'],
      ['a3', 'a', '3'],
      ['b9', 'b', '9'],
      ['b9+', 'b', '9'],
    ] as const)
      queue.push(item, tenant, run);

    expect(takeAll(queue)).toEqual(['a1', 'b9', 'a2', 'b9+', 'a3', 'a1+']);
  });

  it('holds back a lane at its quota, and all of them at the quota of the whole', () => {
    const queue = createFairQueue<string>({ quota: 3, laneQuota: () => 2 });
    for (const item of ['a0', 'a1', 'a2']) queue.push(item, 'a');
    for (const item of ['b0', 'b1']) queue.push(item, 'b');

    const held = [queue.take(), queue.take(), queue.take()];

    expect(held.map((ticket) => ticket?.item)).toEqual(['a0', 'b0', 'a1']);
    expect(queue.next()).toBeUndefined();
    held[1]?.leave();
    expect(queue.next()).toBe('b1');
    held[0]?.leave();
    expect(takeAll(queue)).toEqual(['b1', 'a2']);
  });

  it('forgets what has left, wherever it stood, and once (Q-4)', () => {
    const queue = createFairQueue<string>({ laneQuota: () => 1 });
    const [first, second, third] = ['a0', 'a1', 'a2'].map((item) => queue.push(item, 'a'));
    expect(queue.take()).toBe(first);

    second?.leave();
    second?.leave();
    first?.leave();

    expect(queue.waiting()).toBe(1);
    expect(queue.take()).toBe(third);
    third?.leave();
    third?.leave();
    expect([queue.waiting(), queue.held(), queue.lanes()]).toEqual([0, 0, 0]);
  });
});

/** What happens to a queue: something comes, the next is taken, or one that is known leaves. */
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ push: fc.tuple(fc.nat(3), fc.nat(2)) }) },
  { weight: 3, arbitrary: fc.constant({ take: true as const }) },
  { weight: 2, arbitrary: fc.record({ leave: fc.nat() }) },
);

interface Known {
  readonly number: number;
  readonly tenant: string;
  readonly run: string;
}

const QUOTA = 5;
const PER_TENANT = 3;
const PER_RUN = 2;

/** The same promises kept by looking at everything each time. */
class Model {
  readonly waiting: Known[] = [];
  readonly held: Known[] = [];

  mayGo({ tenant, run }: Known): boolean {
    const ofTenant = this.held.filter((each) => each.tenant === tenant);
    return (
      this.held.length < QUOTA &&
      ofTenant.length < PER_TENANT &&
      ofTenant.filter((each) => each.run === run).length < PER_RUN
    );
  }
}

describe('a fair queue, whatever happens to it,', () => {
  it('keeps the order of each lane and every quota, and leaves nothing waiting that may go (Q-1, Q-3)', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
        const queue = createFairQueue<Known>({
          quota: QUOTA,
          laneQuota: (depth) => (depth === 0 ? PER_TENANT : PER_RUN),
        });
        const model = new Model();
        const tickets: Ticket<Known>[] = [];
        let number = 0;

        for (const each of acts) {
          if ('push' in each) {
            const known = { number: (number += 1), tenant: `t${each.push[0]}`, run: `r${each.push[1]}` };
            model.waiting.push(known);
            tickets.push(queue.push(known, known.tenant, known.run));
          } else if ('take' in each) {
            const expected = queue.next();
            const taken = queue.take()?.item;
            expect(taken).toBe(expected);
            if (taken === undefined) expect(model.waiting.some((known) => model.mayGo(known))).toBe(false);
            else {
              expect(model.mayGo(taken)).toBe(true);
              const lane = model.waiting.filter(
                ({ tenant, run }) => tenant === taken.tenant && run === taken.run,
              );
              expect(lane[0]).toBe(taken);
              model.waiting.splice(model.waiting.indexOf(taken), 1);
              model.held.push(taken);
            }
          } else {
            const ticket = tickets[each.leave % Math.max(tickets.length, 1)];
            ticket?.leave();
            for (const list of [model.waiting, model.held]) {
              const index = list.findIndex((known) => known === ticket?.item);
              if (index >= 0) list.splice(index, 1);
            }
          }
          const lanes = new Set([...model.waiting, ...model.held].map(({ tenant }) => tenant));
          expect([queue.waiting(), queue.held(), queue.lanes()]).toEqual([
            model.waiting.length,
            model.held.length,
            lanes.size,
          ]);
        }
      }),
    );
  });

  it('serves every other lane that waits between two items of one (Q-2)', () => {
    const arrivals = fc.array(fc.nat(4), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(arrivals, (lanes) => {
        const queue = createFairQueue<string>();
        for (const lane of lanes) queue.push(`${lane}`, `${lane}`);
        const left = new Map<string, number>();
        for (const lane of lanes) left.set(`${lane}`, (left.get(`${lane}`) ?? 0) + 1);
        let round = new Set<string>();

        for (const lane of takeAll(queue)) {
          if (round.has(lane)) {
            const passedOver = [...left].filter(([other, count]) => count > 0 && !round.has(other));
            expect(passedOver).toEqual([]);
            round = new Set();
          }
          round.add(lane);
          left.set(lane, (left.get(lane) ?? 0) - 1);
        }
        expect([...left.values()].every((count) => count === 0)).toBe(true);
      }),
    );
  });
});
