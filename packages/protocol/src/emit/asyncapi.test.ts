import { describe, expect, it } from 'vitest';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { admits } from '../events/stream-modes.ts';
import { STREAM_MODES } from '../events/stream-mode-names.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { asyncApiDocument } from './asyncapi.ts';

const document = asyncApiDocument();
const channels = document.channels as Record<string, { address: string; messages: JsonObject }>;
const components = document.components as Record<string, JsonObject>;

describe('the AsyncAPI document', () => {
  it('is 3.1 with the version of the protocol’s texts, and has a channel for each stream mode and one for mixtures', () => {
    expect(document.asyncapi).toBe('3.1.0');
    expect((document.info as JsonObject).version).toBe('1.1.0');
    expect(Object.keys(channels)).toEqual([...STREAM_MODES, 'mixed']);
    expect(channels['updates']?.address).toBe('/v1/runs/{runId}/events?streamMode=updates');
  });

  it.each(['updates', 'debug'] as const)('says of %s what the filter of the stream lets pass', (mode) => {
    const passing = EVENT_CATALOGUE.filter(({ type }) => admits([mode], type)).map(({ type }) => type);

    const sent = Object.keys(channels[mode]?.messages ?? {});

    expect(sent.filter((type) => !type.startsWith('weft.'))).toEqual([...passing, 'run.annotated', 'batch']);
  });

  it('sends streamed text under its name on the wire, with the one schema of that payload', () => {
    expect(Object.keys(channels['messages']?.messages ?? {})).toEqual(['ai.message.chunk', 'batch']);
    expect(components['messages']?.['ai.message.chunk']).toMatchObject({
      payload: { $ref: '#/components/schemas/OutputChunk' },
    });
  });

  it('mentions no heartbeat: idle streams carry comments', () => {
    expect(JSON.stringify(document)).not.toMatch(/heartbeat/i);
  });

  it('refers to what it holds itself, and to nothing else', () => {
    const references = referencesIn(document);

    expect(references.length).toBeGreaterThan(100);
    for (const reference of references) expect(resolve(reference), reference).toBeDefined();
  });
});

function referencesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  );
}

function resolve(reference: string): unknown {
  const [root, ...path] = reference.split('/');
  expect(root).toBe('#');
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
}
