import { generateKeyPairSync } from 'node:crypto';
import { compileClientSchema, type Json, WorkBudget } from '@weft/protocol';
import { publishedShapes } from '@weft/protocol/published-shapes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, type Harness, openHarness } from '../../testing/harness.ts';

const { privateKey } = generateKeyPairSync('ed25519');

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness(
    {},
    (host) => host,
    () => undefined,
    { auditKey: privateKey },
  );
  // Two first keys and the workflows of two tenants are on record by now; each of them gets its link.
  const { lines } = await harness.host.audit.export('entry.0');
  await vi.waitFor(async () => expect((await verify()).json['toSeq']).toBe(lines.length - 1), {
    timeout: 5_000,
  });
});

afterAll(() => harness.close());

function verify(query = '?fromSeq=0&toSeq=100', key = harness.key): Promise<Answer> {
  return harness.call('GET', `/v1/audit/verify${query}`, { key });
}

describe('GET /v1/audit/verify', () => {
  it('finds nothing wrong with an untouched log, and clamps the range', async () => {
    const { status, json } = await verify();

    expect(status).toBe(200);
    expect(json).toMatchObject({ fromSeq: 0, chainValid: true, checkpointsValid: true, anomalies: [] });
    expect(json['toSeq']).toBeGreaterThan(1);
    expect(json['toSeq']).toBeLessThan(100);
  });

  it('covers the whole log without parameters, and ends at its end when asked beyond', async () => {
    const whole = (await verify('')).json;
    const beyond = (await verify('?fromSeq=5000')).json;

    expect(whole).toEqual((await verify()).json);
    expect([beyond['fromSeq'], beyond['toSeq']]).toEqual([whole['toSeq'], whole['toSeq']]);
  });

  it.each(publishedShapes('audit-verify-result'))('answers in %s', async (_, schema) => {
    const problems = compileClientSchema(schema)(JSON.parse((await verify()).text) as Json, new WorkBudget());

    expect(problems).toEqual([]);
  });

  it('answers every tenant the same, and reveals nothing about another', async () => {
    const mine = await verify();
    const theirs = await verify('?fromSeq=0&toSeq=100', harness.otherTenantKey);

    expect(theirs.text).toBe(mine.text);
    expect(theirs.text).not.toMatch(/default|other|operator|key/);
  });

  it.each([
    'fromSeq=-1',
    'fromSeq=x',
    'toSeq=1.5',
    'fromSeq=&toSeq=3',
    'fromSeq=3&toSeq=2',
    'toSeq=1&toSeq=2',
  ])('refuses %s and names the field', async (query) => {
    const { status, json } = await verify(`?${query}`);

    expect([status, json['error']]).toEqual([400, 'validation_error']);
    expect(json['details']).toHaveProperty('field');
  });

  it('needs audit:read', async () => {
    const { status, json } = await verify('', await harness.keyWithout('audit:read'));

    expect([status, json['details']]).toEqual([
      403,
      expect.objectContaining({ scopeRequired: 'audit:read' }),
    ]);
  });
});

describe('GET /v1/host/weft/audit', () => {
  it('gives the lines of the log to the operator, and to no other caller', async () => {
    const first = await harness.call('GET', '/v1/host/weft/audit');
    const refused = await harness.call('GET', '/v1/host/weft/audit', {
      key: await harness.keyWithout('host:admin'),
    });

    expect(first.json).toMatchObject({
      lines: [{ kind: 'head', version: 2 }, { kind: 'checkpoint' }],
      nextCursor: 'batch.0',
    });
    expect(refused.status).toBe(403);
  });

  it('refuses a cursor it did not give', async () => {
    const { status, json } = await harness.call('GET', '/v1/host/weft/audit?cursor=elsewhere');

    expect([status, json['details']]).toEqual([400, { field: 'cursor' }]);
  });
});
