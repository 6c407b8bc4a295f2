import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EVENT_CATALOGUE, EVENT_TYPES, eventType, isVendorType } from './event-catalogue.ts';
import { PUBLISHED_PAYLOADS, type PublishedPayload } from '../testing/published-payloads.ts';
import { compileValidator } from '../validation/validate.ts';

/** Where we ask for more than the published payload schema, and why. */
const MORE_REQUIRED: Record<string, { fields: string[]; why: string }> = {
  'conversation.opened': { fields: ['initialTurn'], why: 'the stricter of two published forms' },
  'conversation.exchanged': { fields: ['turn'], why: 'the stricter of two published forms' },
  'conversation.closed': { fields: ['finalTurn', 'turnIndex'], why: 'the stricter of two published forms' },
};

/** Where our payload admits members that the published closed schema does not. */
const MORE_ALLOWED: Record<string, { fields: string[]; why: string }> = {
  'interrupt.requested': {
    fields: ['interruptId', 'nodeId', 'requestedAt', 'runId'],
    why: 'clients need the identity to answer; the text of the protocol asks for it, its schema forgot it',
  },
};

describe('the event catalogue', () => {
  it('has 107 types, each once', () => {
    expect(EVENT_CATALOGUE).toHaveLength(107);
    expect(new Set(EVENT_TYPES).size).toBe(107);
  });

  it('marks exactly the three terminal types', () => {
    const terminal = EVENT_CATALOGUE.filter((row) => row.terminal).map((row) => row.type);

    expect(terminal).toEqual(['run.completed', 'run.failed', 'run.cancelled']);
  });

  it('shows every type in debug, and a snapshot after every update', () => {
    for (const row of EVENT_CATALOGUE) {
      expect(row.modes).toContain('debug');
      if (row.modes.includes('updates')) expect(row.modes).toContain('values');
    }
  });

  it('has payload schemas that compile', () => {
    for (const row of EVENT_CATALOGUE) expect(() => compileValidator(row.payload)({})).not.toThrow();
  });

  it('asks a failure for a code and a message', () => {
    const payload = eventType('node.failed')?.payload;
    if (payload === undefined) throw new Error('node.failed is missing');
    const validate = compileValidator(payload);

    expect(validate({ nodeId: 'a', error: { code: 'x', message: 'y' } })).toEqual([]);
    expect(validate({ nodeId: 'a', code: 'x', message: 'y' })).not.toEqual([]);
  });
});

describe('a vendor type', () => {
  it.each(['weft.run.imported', 'acme.canvas'])('may be %s', (name) => {
    expect(isVendorType(name)).toBe(true);
  });

  it.each([
    'acme',
    'core.x',
    'openwop.x',
    'vendor.acme.x',
    'run.started',
    'run.exploded',
    'node.x',
    'Acme.x',
    'a..b',
  ])('may not be %s', (name) => {
    expect(isVendorType(name)).toBe(false);
  });
});

interface PublishedSchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, PublishedSchema & { readonly enum?: readonly string[] }>>;
}

/** The same table, read from the published schemas. */
function payloadsIn(folder: string): readonly PublishedPayload[] {
  const load = (file: string): PublishedSchema =>
    JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as PublishedSchema;
  const payloads = load('run-event-payloads.schema.json').$defs ?? {};
  const types = load('run-event.schema.json').$defs?.['RunEventType']?.enum ?? [];
  return types.map((type) => {
    const camel = type.replace(/[._-]([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase());
    const found = payloads[/^lease\.(acquired|renewed|lost)$/.test(type) ? 'leaseLifecycle' : camel];
    if (found === undefined) throw new Error(`no published payload for ${type}`);
    const file = found.$ref?.split('/').at(-1);
    const {
      required = [],
      properties = {},
      additionalProperties,
    } = file?.endsWith('.json') ? load(file) : found;
    const optional = Object.keys(properties).filter((name) => !required.includes(name));
    return { type, required, optional, isClosed: additionalProperties === false };
  });
}

const published = process.env['WEFT_OPENWOP_DATA'];
const SOURCES: readonly (readonly [string, readonly PublishedPayload[]])[] = [
  ['compared with the published payloads', PUBLISHED_PAYLOADS],
  ...(published === undefined
    ? []
    : [['extra check: compared with the published schemas', payloadsIn(`${published}/schemas`)] as const]),
];

describe.each(SOURCES)('%s, the catalogue', (_, payloads) => {
  it('has the same names', () => {
    expect(EVENT_TYPES.toSorted()).toEqual(payloads.map(({ type }) => type).toSorted());
  });

  it.each(payloads.map((row) => [row.type, row] as const))('agrees on the payload of %s', (type, theirs) => {
    const row = eventType(type);
    const ours = row?.payload as unknown as PublishedSchema;

    const required = [...theirs.required, ...(MORE_REQUIRED[type]?.fields ?? [])];
    const named = Object.keys(ours.properties ?? {});
    const known = [...theirs.required, ...theirs.optional];
    expect((ours.required ?? []).toSorted()).toEqual(required.toSorted());
    if (theirs.isClosed) {
      expect(row?.closed).toBe(true);
      expect(named.toSorted()).toEqual([...known, ...(MORE_ALLOWED[type]?.fields ?? [])].toSorted());
    } else {
      expect(named).toEqual(expect.arrayContaining(known));
    }
  });
});
