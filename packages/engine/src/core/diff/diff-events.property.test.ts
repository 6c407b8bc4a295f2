import { canonicalJson, type Json, type JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText } from '../json/canonical-text.ts';
import { diffEvents, type EventDifference, findDivergence, type LogPages } from './diff-events.ts';
import type { LogEvent } from './same-event.ts';

const EXCLUDED = 'eventId runId causationId correlationId ts timestamp traceparent tracestate'.split(' ');

interface Fact {
  readonly seq: number;
  readonly type: string;
  readonly payload: Json;
}

const value = fc.jsonValue({ maxDepth: 2, depthSize: 'small' }) as fc.Arbitrary<Json>;
/** Few names and few values, so that equal events, changed fields and excluded names all occur. */
const payload: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.dictionary(fc.constantFrom('nodeId', 'outputs', '__proto__', ...EXCLUDED), value),
  },
  { weight: 1, arbitrary: value },
);
const gaps = fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 12 });

/** A log in which sequences may be missing, as in what another host or a cut bundle holds. */
const log: fc.Arbitrary<Fact[]> = gaps.chain((steps) =>
  fc
    .tuple(...steps.map(() => fc.tuple(fc.constantFrom('node.started', 'node.completed'), payload)))
    .map((parts) => {
      let seq = -1;
      return parts.map(([type, content], index) => {
        seq += steps[index] ?? 1;
        return { seq, type, payload: content };
      });
    }),
);

/** Two logs that share most of their events. */
const pair = fc.tuple(log, log, fc.func(fc.boolean())).map(([first, second, isShared]): [Fact[], Fact[]] => {
  const bySeq = new Map(first.map((fact) => [fact.seq, fact]));
  const mixed = second.map((fact) => (isShared(fact.seq) ? (bySeq.get(fact.seq) ?? fact) : fact));
  return [first, mixed];
});

function stored(fact: Fact, runId = 'run'): LogEvent {
  const text = JSON.stringify(fact.payload);
  const document = `{"runId":"${runId}","sequence":${fact.seq},"type":"${fact.type}","payload":${text}}`;
  return { seq: fact.seq, type: fact.type, payload: text, document };
}

/** In pages of uneven length, empty ones included. */
async function* pages(facts: readonly Fact[], length = 3): LogPages & AsyncGenerator<readonly LogEvent[]> {
  yield [];
  for (let start = 0; start < facts.length; start += length)
    yield facts.slice(start, start + length).map((fact) => stored(fact));
}

async function all(differences: AsyncIterable<EventDifference>): Promise<EventDifference[]> {
  const found: EventDifference[] = [];
  for await (const difference of differences) found.push(difference);
  return found;
}

const diff = (a: readonly Fact[], b: readonly Fact[]): Promise<EventDifference[]> =>
  all(diffEvents(pages(a), pages(b, 5)));

/** The rule, word for word: everything in memory, every key made, every sequence looked at. */
function naive(a: readonly Fact[], b: readonly Fact[]): EventDifference[] {
  const key = (fact: Fact): string => {
    const kept =
      typeof fact.payload === 'object' && fact.payload !== null && !Array.isArray(fact.payload)
        ? Object.fromEntries(Object.entries(fact.payload).filter(([name]) => !EXCLUDED.includes(name)))
        : fact.payload;
    return canonicalJson([fact.seq, fact.type, kept]);
  };
  const sequences = [...new Set([...a, ...b].map((fact) => fact.seq))].toSorted((x, y) => x - y);
  return sequences.flatMap((seq): EventDifference[] => {
    const [left, right] = [a.find((fact) => fact.seq === seq), b.find((fact) => fact.seq === seq)];
    if (left === undefined && right === undefined) return [];
    if (right === undefined)
      return left === undefined ? [] : [{ seq, op: 'removed', aEvent: stored(left).document }];
    if (left === undefined) return [{ seq, op: 'added', bEvent: stored(right).document }];
    if (key(left) === key(right)) return [];
    return [{ seq, op: 'changed', aEvent: stored(left).document, bEvent: stored(right).document }];
  });
}

function mirrored(difference: EventDifference): EventDifference {
  const { seq } = difference;
  switch (difference.op) {
    case 'added':
      return { seq, op: 'removed', aEvent: difference.bEvent };
    case 'removed':
      return { seq, op: 'added', bEvent: difference.aEvent };
    case 'changed':
      return { seq, op: 'changed', aEvent: difference.bEvent, bEvent: difference.aEvent };
  }
}

function reordered(content: Json): Json {
  if (Array.isArray(content)) return content.map(reordered);
  if (typeof content !== 'object' || content === null) return content;
  return Object.fromEntries(
    Object.entries(content)
      .map(([name, member]): [string, Json] => [name, reordered(member)])
      .toReversed(),
  );
}

function withOtherIds(content: Json, noise: Json): Json {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  return { ...content, eventId: noise, traceparent: noise } satisfies JsonObject;
}

describe('the differences of two logs', () => {
  it('are those that the rule gives when everything is loaded and every key is made (E-29)', () =>
    fc.assert(
      fc.asyncProperty(pair, async ([a, b]) => {
        expect(await diff(a, b)).toEqual(naive(a, b));
      }),
    ));

  it('do not depend on how the logs are cut into pages, nor on when they are asked for (E-30)', () =>
    fc.assert(
      fc.asyncProperty(pair, fc.integer({ min: 1, max: 4 }), async ([a, b], length) => {
        expect(await all(diffEvents(pages(a, length), pages(b, 7)))).toEqual(await diff(a, b));
      }),
    ));

  it('of a log and itself are none', () =>
    fc.assert(
      fc.asyncProperty(log, async (facts) => {
        expect(await diff(facts, facts)).toEqual([]);
      }),
    ));

  it('are mirrored when the sides change places', () =>
    fc.assert(
      fc.asyncProperty(pair, async ([a, b]) => {
        expect((await diff(b, a)).map(mirrored)).toEqual(await diff(a, b));
      }),
    ));

  it('do not depend on the order of keys, at any depth', () =>
    fc.assert(
      fc.asyncProperty(log, async (facts) => {
        const turned = facts.map((fact) => ({ ...fact, payload: reordered(fact.payload) }));

        expect(await diff(facts, turned)).toEqual([]);
      }),
    ));

  it('do not depend on excluded names at the top of a payload', () =>
    fc.assert(
      fc.asyncProperty(log, value, async (facts, noise) => {
        const other = facts.map((fact) => ({ ...fact, payload: withOtherIds(fact.payload, noise) }));

        expect(await diff(facts, other)).toEqual([]);
      }),
    ));

  it('begin at the divergence, and the divergence is null only when there are none', () =>
    fc.assert(
      fc.asyncProperty(pair, async ([a, b]) => {
        const found = await findDivergence(pages(a), pages(b));
        const differences = await all(found.differences);

        expect(found.divergedAtSeq).toBe(differences[0]?.seq ?? null);
        expect(differences).toEqual(naive(a, b));
      }),
    ));
});

describe('the canonical text', () => {
  it('is that of RFC 8785 wherever it has one', () =>
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<Json>, (content) => {
        expect(canonicalText(content)).toBe(canonicalJson(content));
      }),
    ));
});
