import { EVENT_CATALOGUE, type Json, type JsonObject } from '@weft/protocol';
import { sampleWith, textFields } from '@weft/protocol/schema-samples';
import { describe, expect, it } from 'vitest';
import { wrongNameIn } from './payload-names.ts';
import { readBundle } from './read-bundle.ts';
import { foreignBundle, modern, TWO_NODES } from './testing/foreign-bundle.ts';

const REFUSED = ['d\u0000x', '\u001b[2J', '\u007f', '\u009b', '\u202e', '\u2066'];

const events = (index: number, change: JsonObject): JsonObject[] =>
  modern(TWO_NODES).map((event, at) => (at === index ? { ...event, ...change } : event));
const run = (change: JsonObject): JsonObject =>
  foreignBundle({ run: { ...(foreignBundle()['run'] as JsonObject), ...change } });

/** Where a bundle brings a name, and a bundle with this text there. */
const PLACES: readonly (readonly [string, (text: string) => JsonObject])[] = [
  ['/run/runId', (text) => run({ runId: text })],
  ['/run/workflowId', (text) => run({ workflowId: text })],
  ['/run/status', (text) => run({ status: text })],
  ['/run/tags/1', (text) => run({ tags: ['plain', text] })],
  ['/run/weft/workflowVersion', (text) => run({ weft: { workflowVersion: text } })],
  ['/host/name', (text) => foreignBundle({ host: { name: text } })],
  ['/host/version', (text) => foreignBundle({ host: { name: 'acme', version: text } })],
  ['/events/2/type', (text) => foreignBundle({}, events(2, { type: `acme.${text}` }))],
  ['/events/2/nodeId', (text) => foreignBundle({}, events(2, { nodeId: text }))],
  [
    '/events/1/payload/typeId',
    (text) => foreignBundle({}, events(1, { payload: { nodeId: 'fetch', typeId: text } })),
  ],
];

describe('a name in a bundle', () => {
  it.each(PLACES)('is refused with its place, and not quoted: %s', (field, bundleWith) => {
    expect(() => readBundle(bundleWith('plain'))).not.toThrow();
    for (const text of REFUSED) {
      expect(() => readBundle(bundleWith(text)), JSON.stringify(text)).toThrow(
        expect.objectContaining({
          code: 'bundle_invalid',
          details: { field },
          message: expect.not.stringContaining(text),
        }),
      );
    }
  });

  it.each(['inputs', 'configurable'])('is that of a value, too: run.%s', (member) => {
    expect(() => readBundle(run({ [member]: { 'a\u0000b': 1 } }))).toThrow(
      expect.objectContaining({ details: { field: `/run/${member}/a\u0000b` } }),
    );
  });

  it('leaves out an annotation that brings a wrong one', () => {
    const note = {
      annotationId: 'ann_1',
      target: { runId: 'far-1' },
      signal: { kind: 'label', label: 'good' },
      actor: { principalRef: 'ada' },
      createdAt: '2026-05-02T08:00:00Z',
    };
    const wrong = [
      { ...note, annotationId: 'ann\u0000' },
      { ...note, actor: { principalRef: 'ada\u202e' } },
      { ...note, signal: { kind: 'label', label: 'good\u0007' } },
    ];

    expect(readBundle(foreignBundle({ annotations: [...wrong, note] })).annotations).toHaveLength(1);
  });
});

describe('a text in a bundle', () => {
  it('may hold anything where only people read it, and in payloads', () => {
    const payload: Json = { nodeId: 'fetch', outputs: { page: 'a\u0000b\u001b[2J\nc' } };

    const bundle = readBundle(foreignBundle({}, events(3, { payload })));

    expect(JSON.parse(bundle.events[3]?.payload ?? '')).toEqual(payload);
    expect(wrongNameIn('run.failed', { error: { code: 'x', message: 'two\nlines' } })).toBeUndefined();
    expect(wrongNameIn('output.chunk', { nodeId: 'a', chunk: 'one\n' })).toBeUndefined();
    expect(wrongNameIn('acme.anything', { name: 'a\u0000' })).toBeUndefined();
  });

  it('is a name in every payload of the catalogue unless it was chosen to be free', () => {
    const free = new Set<string>();
    for (const { type, payload } of EVENT_CATALOGUE) {
      for (const field of textFields(payload).filter(({ kind, isKey }) => kind === 'text' && !isKey)) {
        const wrong = wrongNameIn(type, sampleWith(payload, field, 'a\u0000b'));
        if (wrong === undefined) free.add(field.path.replaceAll(/\/\d+/g, '').split('/').at(-1) ?? '');
        else expect(wrong.path).toBe(field.path);
      }
    }

    expect([...free].sort()).toEqual(
      (
        'arguments base64 chunk comment committedPrefix composed criteria delta feedback finalError finalText message ' +
        'previousError prompt question reason reasoning refusalReason refusalText summary systemPrompt text title userPrompt'
      ).split(' '),
    );
  });
});
