import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { canonicalJson, type Json, type JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { publicKeyText } from '../../crypto/ed25519.ts';
import { sha256Hex } from '../../crypto/hash.ts';
import { withSignature } from '../bundle/signature.ts';
import { importRunId } from './import-run-id.ts';
import { readBundle } from './read-bundle.ts';
import {
  dated,
  type ForeignEvent,
  foreignBundle,
  modern,
  TWO_NODES,
  withDigest,
} from './testing/foreign-bundle.ts';

const changed = (events: readonly ForeignEvent[]): JsonObject => foreignBundle({}, modern(events));

function without(index: number): readonly ForeignEvent[] {
  return TWO_NODES.filter((_, position) => position !== index);
}

describe('a bundle of another host', () => {
  it('is read with its log, and not taken for verified', () => {
    const bundle = readBundle(foreignBundle());

    expect(bundle).toMatchObject({
      verified: false,
      runId: 'far-1',
      host: 'acme-flow 4.2',
      workflowId: 'letters',
      isCut: false,
      totalEvents: 7,
      definition: {},
    });
    expect(bundle.events.map(({ seq, type }) => [seq, type])).toEqual(
      TWO_NODES.map(({ type }, index) => [index, type]),
    );
    expect(bundle.events[3]).toMatchObject({
      nodeId: 'fetch',
      payload: '{"nodeId":"fetch","outputs":{"page":"hello"}}',
    });
  });

  it.each(['1', '1.0', '1.7'])('may say bundleVersion "%s"', (bundleVersion) => {
    expect(readBundle(foreignBundle({ bundleVersion })).events).toHaveLength(7);
  });

  it('means the same under the older names of its members', () => {
    const older = readBundle(foreignBundle({}, dated(TWO_NODES)));

    expect(older.events).toEqual(readBundle(foreignBundle()).events);
  });

  it('may have events without a payload, and events of unknown types', () => {
    const bundle = readBundle(changed([{ type: 'run.started', payload: null }, ...TWO_NODES.slice(1)]));

    expect(bundle.events[0]?.payload).toBe('{}');
    expect(bundle.events[2]?.type).toBe('acme.cache.missed');
  });

  it('may be cut, and knows then how long the log was', () => {
    const events = modern(TWO_NODES.slice(0, 3));

    const bundle = readBundle(
      foreignBundle({ truncated: true, metrics: { nodeCount: 2, eventCount: 7 } }, events),
    );

    expect(bundle).toMatchObject({ isCut: true, totalEvents: 7 });
    expect(bundle.events).toHaveLength(3);
  });

  it('may have given up its spans only', () => {
    const bundle = readBundle(foreignBundle({ truncated: true, truncatedReason: 'spans_truncated' }));

    expect(bundle.isCut).toBe(false);
  });
});

describe('a bundle of ours', () => {
  it('is verified by its digest, however it is laid out', () => {
    const bundle = withDigest(foreignBundle());
    const turned = Object.fromEntries(Object.entries(bundle).reverse());

    expect(readBundle(bundle)).toMatchObject({ verified: true });
    expect(readBundle(turned).digest).toBe(readBundle(bundle).digest);
  });

  it('is not verified while its signature is of a kind that is not known here', () => {
    const read = readBundle(withDigest(foreignBundle(), { signature: { algorithm: 'ml-dsa-65' } }));

    expect(read).toMatchObject({ verified: false, signer: undefined });
  });

  it('names the key that has signed it', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');

    const read = readBundle(signedBundle(privateKey));

    expect(read.verified).toBe(true);
    expect(read.signer).toEqual({
      publicKey: publicKeyText(publicKey),
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  it.each<[string, (extras: JsonObject) => JsonObject]>([
    ['what was masked was changed', (extras) => ({ ...extras, masked: [] })],
    ['the totals were changed', (extras) => ({ ...extras, totals: { events: 8 } })],
    ['something was added', (extras) => ({ ...extras, omitted: [] })],
    ['the definition was taken out', ({ definition: _definition, ...extras }) => extras],
    ['the digest was taken out', ({ digest: _digest, ...extras }) => extras],
    ['the key is another one', (extras) => changedSignature(extras, 'publicKey', otherKey())],
    ['the key is none', (extras) => changedSignature(extras, 'publicKey', 'AAAA')],
    ['the signature is another one', (extras) => changedSignature(extras, 'value', 'A'.repeat(86))],
    ['the signature is none', (extras) => ({ ...extras, signature: 'AAAA' })],
    ['the algorithm is missing', (extras) => changedSignature(extras, 'algorithm', null)],
  ])('is refused when it is signed and %s', (_, change) => {
    const bundle = signedBundle(generateKeyPairSync('ed25519').privateKey);

    const changedOne = { ...bundle, weft: change(bundle['weft'] as JsonObject) };

    expect(() => readBundle(changedOne)).toThrow(
      expect.objectContaining({ code: 'bundle_invalid', message: expect.stringContaining('sign') }),
    );
  });

  it('gives the same run id to the same tenant alone', () => {
    const { digest } = readBundle(foreignBundle());

    expect(importRunId('a', digest)).toBe(importRunId('a', digest));
    expect(importRunId('a', digest)).not.toBe(importRunId('b', digest));
    expect(importRunId('a', digest)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});

function signedBundle(key: KeyObject): JsonObject {
  const definition = { id: 'letters' };
  const bundle = withDigest(foreignBundle(), {
    masked: ['/events/3/payload/outputs/page'],
    definition,
    definitionDigest: sha256Hex(canonicalJson(definition)),
    totals: { events: 7 },
  });
  return { ...bundle, weft: withSignature(bundle['weft'] as JsonObject, key) };
}

function changedSignature(extras: JsonObject, name: string, value: Json): JsonObject {
  return { ...extras, signature: { ...(extras['signature'] as JsonObject), [name]: value } };
}

function otherKey(): string {
  return publicKeyText(generateKeyPairSync('ed25519').publicKey);
}

describe('a bundle is refused', () => {
  const started = TWO_NODES[0] as ForeignEvent;
  const ended = TWO_NODES[6] as ForeignEvent;
  const gap = modern(TWO_NODES).map((event, index) => ({
    ...event,
    sequence: index < 3 ? index : index + 1,
  }));

  it.each<[string, Json, string, RegExp]>([
    ['that is no object', [], '', /not a JSON object/],
    [
      'of a version that is not read',
      foreignBundle({ bundleVersion: '2.0' }),
      '/bundleVersion',
      /bundleVersion/,
    ],
    ['without a run', foreignBundle({ run: null }), '/run', /run is not an object/],
    ['without events', foreignBundle({ events: {} }), '/events', /not a list/],
    [
      'with a wrong digest',
      { ...withDigest(foreignBundle()), generatedAt: 'later' },
      '/weft/digest',
      /digest does not fit/,
    ],
    ['with a gap in the sequence', foreignBundle({}, gap), '/events/4', /should be 3/],
    [
      'with two sequences for one event',
      foreignBundle({}, [{ ...(modern(TWO_NODES)[0] as JsonObject), seq: 4 }]),
      '/events/0/seq',
      /two sequences/,
    ],
    [
      'with a terminal event in the middle',
      changed([started, ended, ...TWO_NODES.slice(1, 6)]),
      '/events/2',
      /comes after run.completed/,
    ],
    [
      'with two terminal events',
      changed([...TWO_NODES, { type: 'run.failed', payload: {} }]),
      '/events/7',
      /comes after/,
    ],
    [
      'with a node that completed without having started',
      changed(without(1)),
      '/events/2',
      /"fetch" is not running/,
    ],
    ['whose run has ended, though its log has not', changed(TWO_NODES.slice(0, 6)), '/events', /no end/],
    [
      'with an event that has no time',
      foreignBundle({}, [{ ...(modern(TWO_NODES)[0] as JsonObject), timestamp: 'soon' }]),
      '/events/0/timestamp',
      /no timestamp/,
    ],
    [
      'with a definition that is not the one it names',
      withDigest(foreignBundle(), { definitionDigest: '0'.repeat(64), definition: { id: 'letters' } }),
      '/weft/definition',
      /digest it names/,
    ],
  ])('%s', (_, document, field, message) => {
    expect(() => readBundle(document)).toThrow(
      expect.objectContaining({
        code: 'bundle_invalid',
        details: { field },
        message: expect.stringMatching(message),
      }),
    );
  });
});

describe('what was masked', () => {
  const masking = (mode: string, page: Json, extras?: JsonObject): readonly string[] => {
    const events = modern(
      TWO_NODES.map((event, index) =>
        index === 3 ? { ...event, payload: { nodeId: 'fetch', outputs: { page, size: 5 } } } : event,
      ),
    );
    const bundle = foreignBundle({ redactionMode: mode }, events);
    return readBundle(extras === undefined ? bundle : withDigest(bundle, extras)).masked.events[3] ?? [];
  };

  it('is found by the marks of its mode', () => {
    expect(masking('mask', '***')).toEqual(['/outputs/page']);
    expect(masking('mask', { deep: ['Bearer [REDACTED]'] })).toEqual(['/outputs/page']);
    expect(masking('hash', `sha256:${'a'.repeat(64)}`)).toEqual(['/outputs/page']);
    expect(masking('omit', null)).toEqual(['/outputs/page']);
    expect(masking('mask', 'plain')).toEqual([]);
  });

  it('is what the list of our own bundles says, and what carries our mark', () => {
    expect(masking('mask', 'plain', { masked: ['/events/3/data/outputs/page/x'] })).toEqual([
      '/outputs/page',
    ]);
    expect(masking('mask', 'a [REDACTED:key] b', {})).toEqual(['/outputs/page']);
    expect(masking('mask', '***', {})).toEqual([]);
  });

  it('is kept as exactly as the list states it, for a bundle of the imported run', () => {
    const events = modern(TWO_NODES).map((event, index) =>
      index === 5 ? { ...event, payload: { nodeId: 'send', outputs: { receipt: 'a [REDACTED] b' } } } : event,
    );
    const listed = ['/run/inputs/city', '/run/variables/x~1y', '/events/3/payload/outputs/page/deep'];

    const { places } = readBundle(withDigest(foreignBundle({}, events), { masked: listed })).masked;

    expect(places).toEqual({
      run: ['/run/inputs/city', '/run/variables/x~1y'],
      events: { 3: ['/outputs/page/deep'], 5: ['/outputs/receipt'] },
    });
  });

  it('is not believed to be in events that are not there', () => {
    const masked = ['/events/x/payload/a', '/events/7/payload/a', '/events/-1/data/a', '/events/1e99/data/a'];

    const slots = readBundle(withDigest(foreignBundle(), { masked })).masked;

    expect(slots.events).toEqual({});
    expect(slots.places?.events).toEqual({});
  });

  it('may be inputs whose names are unknown', () => {
    const isSilent = (extras: JsonObject): boolean =>
      readBundle(withDigest(foreignBundle(), extras)).masked.isSilent;

    expect(isSilent({})).toBe(false);
    expect(isSilent({ masked: ['/run/inputs'] })).toBe(true);
    expect(isSilent({ omitted: ['/run/inputs'] })).toBe(true);
  });

  it('covers inputs and options by name', () => {
    const run = {
      ...(foreignBundle()['run'] as JsonObject),
      inputs: { city: '***', n: 1 },
      configurable: { model: '***' },
    };

    expect(readBundle(foreignBundle({ run, redactionMode: 'mask' })).masked).toMatchObject({
      inputs: ['city'],
      configurable: ['model'],
      isSilent: false,
    });
  });
});
