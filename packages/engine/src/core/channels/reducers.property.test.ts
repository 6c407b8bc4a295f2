import type { Json, JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeState, encodeState } from '../fold/checkpoint.ts';
import { type ChannelWrite, REDUCERS, reduce, type Reducer } from './reducers.ts';
import { chain, node, type NodeSpec } from '../testing/definitions.ts';
import { fold, simulate, type Simulation } from '../testing/simulation.ts';

/** Channels as folds: whatever is written, in the order of the log, by the time of the log. */

const people = fc.constantFrom('ada', 'bob', 'cyd');

function valueFor(reducer: Reducer): fc.Arbitrary<Json> {
  switch (reducer) {
    case 'replace':
    case 'append':
      return fc.oneof(fc.integer(), fc.string({ maxLength: 4 }), fc.constant(null));
    case 'merge':
      return fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer(), { noNullPrototype: true });
    case 'counter':
      return fc.integer({ min: -5, max: 5 });
    case 'votes':
      return fc.record({ userId: people, action: fc.constantFrom('yes', 'no') }, { noNullPrototype: true });
    case 'feedback':
      return fc.record({ feedback: fc.string({ maxLength: 4 }) }, { noNullPrototype: true });
    case 'message':
      return fc.record(
        { messageId: fc.constantFrom('m1', 'm2', 'm3'), content: fc.string({ maxLength: 4 }) },
        { noNullPrototype: true },
      );
  }
}

const writesOf = fc.constantFrom(...REDUCERS).chain((reducer) =>
  fc.record({
    reducer: fc.constant(reducer),
    values: fc.array(valueFor(reducer), { minLength: 1, maxLength: 6 }),
    waits: fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 6, maxLength: 6 }),
    ttlMs: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
  }),
);

const AGEING = new Set(['append', 'votes', 'feedback']);

/** Writes the values one after the other, with a delay before each. */
function written(
  reducer: Reducer,
  values: readonly Json[],
  waits: readonly number[],
  ttlMs?: number,
): Simulation {
  const nodes: NodeSpec[] = values.flatMap((value, index) => [
    node(`d${index}`, 'core.delay', { ms: waits[index] ?? 0 }),
    node(`w${index}`, 'core.channelWrite', { channelName: 'log', value }),
  ]);
  const ttl: JsonObject = ttlMs !== undefined && AGEING.has(reducer) ? { ttlMs } : {};
  const run = simulate({
    nodes,
    edges: chain(...nodes.map(({ id }) => id)),
    channels: { log: { reducer, ...ttl } },
  });
  run.start();
  while (run.run.state.endedAt === undefined) run.passTime();
  return run;
}

describe('a channel', () => {
  it('holds what folding its writes in the order of the log gives, at any time it is folded', () => {
    fc.assert(
      fc.property(writesOf, fc.nat(), ({ reducer, values, waits, ttlMs }, cutAt) => {
        const run = written(reducer, values, waits, ttlMs);
        const cut = cutAt % run.log.length;

        const prefix = decodeState(encodeState(fold(run.plan, run.record, run.log.slice(0, cut))));
        const again = fold(run.plan, run.record, run.log.slice(cut), prefix);

        expect(run.run.state.status).toBe('completed');
        expect(again.channels.get('log')).toEqual(run.run.state.channels.get('log'));
      }),
      { numRuns: 150 },
    );
  });

  it('evaluates the age of its entries by the times of the log, not by the clock of the reader', () => {
    const reached = { dropped: 0, kept: 0 };
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 100 }),
        (waits, ttlMs) => {
          const run = written(
            'append',
            waits.map((_, index) => index),
            waits,
            ttlMs,
          );

          const times = run.log.filter(({ type }) => type === 'channel.written').map(({ at }) => at);
          const last = times.at(-1) ?? 0;
          const young = times.flatMap((at, index) => (at >= last - ttlMs ? [{ value: index, _ts: at }] : []));
          expect(fold(run.plan, run.record, run.log).channels.get('log')).toEqual(young);
          reached[young.length < times.length ? 'dropped' : 'kept'] += 1;
        },
      ),
      { numRuns: 100 },
    );
    expect(Math.min(reached.dropped, reached.kept)).toBeGreaterThan(5);
  });

  it('keeps one vote per voter, the newest, in the order of the newest votes', () => {
    fc.assert(
      fc.property(fc.array(valueFor('votes'), { minLength: 1, maxLength: 8 }), (votes) => {
        const held = votes.reduce<Json | undefined>(
          (now, value) => reduce(now, at('votes', value)),
          undefined,
        );

        const voterOf = (vote: Json): Json => (vote as JsonObject)['userId'] ?? null;
        const newest = votes.filter(
          (vote, index) => votes.findLastIndex((other) => voterOf(other) === voterOf(vote)) === index,
        );
        expect(held).toEqual(newest);
      }),
    );
  });

  it('of messages takes each id once, however often and however late it comes again', () => {
    fc.assert(
      fc.property(
        fc.array(valueFor('message'), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 4 }),
        (messages, repeats) => {
          const once = messages.reduce<Json | undefined>(
            (now, value) => reduce(now, at('message', value)),
            undefined,
          );

          const twice = repeats.reduce<Json | undefined>(
            (now, which) => reduce(now, at('message', messages[which % messages.length] ?? null)),
            once,
          );

          expect(twice).toEqual(once);
        },
      ),
    );
  });
});

function at(reducer: Reducer, value: Json): ChannelWrite {
  return { reducer, value, at: 0 };
}
