import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EVENT_CATALOGUE, EVENT_TYPES, eventType, isVendorType } from './event-catalogue.ts';
import { compileValidator } from '../validation/validate.ts';

const folder = '/work/shared/openwop/schemas';

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

describe.runIf(existsSync(folder))('compared with the published schemas, the catalogue', () => {
  interface Published {
    required?: string[];
    properties?: Record<string, unknown>;
    additionalProperties?: unknown;
    $ref?: string;
  }

  function load(file: string): { $defs: Record<string, Published> } & Published {
    return JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'));
  }

  function publishedPayload(type: string): Published {
    const { $defs } = load('run-event-payloads.schema.json');
    const camel = type.replace(/[._-]([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase());
    const known = /^lease\.(acquired|renewed|lost)$/.test(type) ? 'leaseLifecycle' : camel;
    const found = $defs[known];
    if (found === undefined) throw new Error(`no published payload for ${type}`);
    const file = found.$ref?.split('/').at(-1);
    return file?.endsWith('.json') ? load(file) : found;
  }

  it('has the same names', () => {
    const { $defs } = load('run-event.schema.json') as unknown as {
      $defs: { RunEventType: { enum: string[] } };
    };

    expect(EVENT_TYPES.toSorted()).toEqual($defs.RunEventType.enum.toSorted());
  });

  it.each([...EVENT_TYPES])('agrees on the payload of %s', (type) => {
    const row = eventType(type);
    const ours = row?.payload as unknown as Published;
    const theirs = publishedPayload(type);

    const required = [...(theirs.required ?? []), ...(MORE_REQUIRED[type]?.fields ?? [])];
    expect((ours.required ?? []).toSorted()).toEqual(required.toSorted());
    if (theirs.additionalProperties === false) {
      const allowed = [...Object.keys(theirs.properties ?? {}), ...(MORE_ALLOWED[type]?.fields ?? [])];
      expect(row?.closed).toBe(true);
      expect(Object.keys(ours.properties ?? {}).toSorted()).toEqual(allowed.toSorted());
    } else if (theirs.properties !== undefined) {
      expect(Object.keys(ours.properties ?? {})).toEqual(
        expect.arrayContaining(Object.keys(theirs.properties)),
      );
    }
  });
});
