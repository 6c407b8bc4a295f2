import { createHash } from 'node:crypto';
import { type Annotation, canonicalJson, type DebugBundle, type Json, type JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../ports/store.ts';
import { renderSnapshot } from '../fold/snapshot.ts';
import { finish } from '../json/cooperative-task.ts';
import { chain, node } from '../testing/definitions.ts';
import { simulate } from '../testing/simulation.ts';
import { type BundleSource, createBundleAssembly, type RunningHash } from './assembly.ts';
import { createBundleRedaction } from './bundle-redaction.ts';
import { asRunEvent } from '../../model/run-event.ts';
import { spansOf } from './spans.ts';

const CAP = 256 * 1024;

function runningHash(): RunningHash {
  const hash = createHash('sha256');
  return { update: (text) => void hash.update(text), hex: () => hash.digest('hex') };
}

const { plan, record, run } = simulate({ nodes: [node('a'), node('b')], edges: chain('a', 'b') });
const { state } = run;

function sourceOf(totalEvents: number, rest: Partial<BundleSource> = {}): BundleSource {
  return {
    record,
    snapshot: renderSnapshot(plan, record, state, { status: 'running' }),
    definition: plan.definition,
    annotations: [],
    redaction: createBundleRedaction(plan, record, state),
    generatedAt: 0,
    host: { name: 'weft', version: '1' },
    totalEvents,
    nodeIds: ['a', 'b'],
    ...rest,
  };
}

function bundleOf(
  source: BundleSource,
  events: readonly StoredEvent[],
  maxBytes = CAP,
): { text: string; bundle: DebugBundle } {
  const assembly = finish(createBundleAssembly(source, { maxBytes, hash: runningHash() }));
  let text = assembly.open();
  for (const event of events) {
    const piece = assembly.add(event);
    if (piece === undefined) break;
    text += piece;
  }
  text += assembly.close();
  return { text, bundle: JSON.parse(text) as DebugBundle };
}

function started(seq: number, payload: JsonObject = {}): StoredEvent {
  const full = { nodeId: 'a', typeId: 'core.noop', attempt: 0, ...payload };
  return { seq, at: seq, type: 'node.started', nodeId: 'a', payload: JSON.stringify(full) };
}

const many = (count: number, payload: JsonObject = {}): StoredEvent[] =>
  Array.from({ length: count }, (_, seq) => started(seq, payload));

describe('a bundle of a large run', () => {
  it('is masked in steps, so that others get their turn meanwhile', () => {
    const text = 'eyJ-'.repeat(7_500);
    const source = sourceOf(0);
    const nodeStates = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`n${at}`, { status: 'completed', outputs: { text } }]),
    );
    const definition: Json = { nodes: Array.from({ length: 100 }, (_, at) => ({ id: `n${at}`, text })) };
    const steps = createBundleAssembly(
      { ...source, definition, snapshot: { ...source.snapshot, nodeStates } },
      { maxBytes: 16 * 1024 * 1024, hash: runningHash() },
    );
    let count = 0;
    while (steps.next().done !== true) count += 1;

    expect(count).toBeGreaterThan(80);
  });
});

describe('a bundle that would be too large', () => {
  it.each<[string, JsonObject]>([
    ['events with little in them', {}],
    ['large events', { text: 'x'.repeat(10_000) }],
    ['events in which much is masked', { list: Array(50).fill('sk-abcdefghij0123456789AB') }],
    ['events outside ASCII', { text: '漢字'.repeat(500) }],
  ])('ends below the limit, after a strict prefix: %s', (_, payload) => {
    const events = many(2_000, payload);

    const { text, bundle } = bundleOf(sourceOf(events.length), events);

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CAP);
    expect(Buffer.byteLength(text)).toBeGreaterThan(CAP / 2);
    expect(bundle.events.map(({ sequence }) => sequence)).toEqual(
      bundle.events.map((_event, index) => index),
    );
    expect(bundle).toMatchObject({
      truncated: true,
      truncatedReason: 'events_truncated_to_size_cap',
      metrics: { eventCount: 2_000, nodeCount: 2 },
    });
  });

  it('has the spans of the events it has', () => {
    const events = many(2_000);

    const { bundle } = bundleOf(sourceOf(events.length), events);

    const kept = bundle.events.map((event) =>
      asRunEvent({
        seq: event.sequence,
        at: event.sequence,
        type: event.type,
        nodeId: 'a',
        payload: event.payload,
      }),
    );
    expect(bundle.spans).toEqual(spansOf(record, kept));
  });

  it('leaves an eighth to everything else', () => {
    const events = many(2_000, { text: 'x'.repeat(5_000) });

    const { bundle } = bundleOf(sourceOf(events.length), events);

    expect(JSON.stringify(bundle.events).length).toBeLessThanOrEqual(CAP - CAP / 8);
  });

  it('gives up what can be had from the log before it gives up the log', () => {
    const nodeStates = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`a[${index}]`, { status: 'completed' }]),
    );
    const source = sourceOf(10);

    const { text, bundle } = bundleOf({ ...source, snapshot: { ...source.snapshot, nodeStates } }, many(10));

    expect(bundle.events).toHaveLength(10);
    expect(bundle.run).not.toHaveProperty('nodeStates');
    expect(bundle.weft?.omitted).toEqual(['/run/nodeStates']);
    expect(bundle.weft?.definition).toBeDefined();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CAP);
  });

  it('takes the newest annotations and says how many there are', () => {
    const annotations = Array.from(
      { length: 100 },
      (_, index): Annotation => ({
        annotationId: `ann_${index}`,
        target: { runId: record.runId },
        signal: { kind: 'flag' },
        actor: { principalRef: 'ada' },
        note: 'n'.repeat(1_000),
        createdAt: '2026-01-01T00:00:00.000Z',
      }),
    );

    const { bundle } = bundleOf(sourceOf(0, { annotations }), []);

    expect(bundle.annotations.length).toBeGreaterThan(5);
    expect(bundle.annotations.length).toBeLessThan(50);
    expect(bundle.annotations.at(-1)?.annotationId).toBe('ann_99');
    expect(bundle.weft?.totals.annotations).toBe(100);
  });
});

describe('a log that does not begin at its beginning', () => {
  it('is pointed into by place, not by number', () => {
    const { bundle } = bundleOf(sourceOf(1), [started(7, { text: 'sk-abcdefghij0123456789AB' })]);

    expect(bundle.weft?.masked).toEqual(['/events/0/data/text', '/events/0/payload/text']);
  });
});

describe('whatever the payloads', () => {
  it('the text is the canonical form of what it says, and the digest holds', () => {
    const payload = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 5 }), (payloads) => {
        const events = payloads.map((each, seq) => ({
          ...started(seq),
          payload: JSON.stringify({ nodeId: 'a', outputs: each }),
        }));

        const { text, bundle } = bundleOf(sourceOf(events.length), events);

        expect(canonicalJson(bundle as unknown as Json)).toBe(text);
        const { weft, ...rest } = bundle;
        const digest = createHash('sha256')
          .update(canonicalJson(rest as unknown as Json))
          .digest('hex');
        expect(weft?.digest).toBe(digest);
      }),
      { numRuns: 200 },
    );
  });

  it('a lone surrogate, which has no bytes, becomes a replacement character', () => {
    const { text } = bundleOf(sourceOf(1), [started(0, { text: 'a\ud800b' })]);

    expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text);
    expect(text).toContain('a\ufffdb');
  });
});
