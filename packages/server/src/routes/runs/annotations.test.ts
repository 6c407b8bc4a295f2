import { compileClientSchema, type Json, WorkBudget } from '@weft/protocol';
import { publishedShapes } from '@weft/protocol/published-shapes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Harness, openHarness } from '../../testing/harness.ts';

let harness: Harness;
let runId: string;

beforeAll(async () => {
  harness = await openHarness();
  ({ runId } = await harness.start('noop'));
  await harness.reaches(runId, 'completed');
});

afterAll(() => harness.close());

function annotate(
  body: Json,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return harness.call('POST', `/v1/runs/${runId}/annotations`, { body, ...options });
}

async function listed(of = runId): Promise<Record<string, Json>[]> {
  const { text } = await harness.call('GET', `/v1/runs/${of}/annotations`);
  return (JSON.parse(text) as { annotations: Record<string, Json>[] }).annotations;
}

describe('POST /v1/runs/{runId}/annotations', () => {
  it.each<[string, Record<string, Json>]>([
    ['rating', { kind: 'rating', rating: 4 }],
    ['label', { kind: 'label', label: 'duplicate' }],
    ['correction', { kind: 'correction', correction: 'It should say 12.' }],
    ['flag', { kind: 'flag' }],
  ])('keeps a %s of a run that has ended', async (_, signal) => {
    const answer = await annotate({ signal, note: 'seen in review' });

    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      target: { runId },
      signal,
      actor: { principalRef: 'operator' },
      note: 'seen in review',
    });
    expect((await listed()).at(-1)).toEqual(answer.json);
  });

  it.each<[string, Json, string]>([
    ['no signal', {}, 'signal'],
    ['an unknown kind', { signal: { kind: 'applause' } }, 'signal'],
    ['a rating of six', { signal: { kind: 'rating', rating: 6 } }, 'signal.rating'],
    ['a label without text', { signal: { kind: 'label' } }, 'signal'],
    ['a field of another kind', { signal: { kind: 'flag', rating: 3 } }, 'signal'],
    ['a run id in the target', { signal: { kind: 'flag' }, target: { runId: 'x' } }, 'target'],
    ['an actor', { signal: { kind: 'flag' }, actor: { principalRef: 'boss' } }, 'actor'],
    ['a note that is too long', { signal: { kind: 'flag' }, note: 'x'.repeat(4_097) }, 'note'],
  ])('refuses %s and names the field', async (_, body, field) => {
    const before = (await listed()).length;

    const answer = await annotate(body);

    expect(answer.status).toBe(400);
    expect(answer.text).toContain(field);
    expect(await listed()).toHaveLength(before);
  });

  it('takes a node and an event of the run as its target', async () => {
    const target = { nodeId: 'noop', eventId: `${runId}-1` };

    const answer = await annotate({ signal: { kind: 'flag' }, target });

    expect(answer.json).toMatchObject({ target: { runId, ...target } });
  });

  it.each<[string, string, (id: string) => string]>([
    ['nodeId', 'a node it does not have', () => 'unknown'],
    ['eventId', 'an event it has not reached', (id) => `${id}-99`],
    ['eventId', 'an event of another run', () => 'other-0'],
    ['eventId', 'an invalid number', (id) => `${id}-01`],
  ])('refuses as %s %s', async (field, _, value) => {
    const answer = await annotate({ signal: { kind: 'flag' }, target: { [field]: value(runId) } });

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ details: { field: `target.${field}` } });
  });

  it('keeps no secrets, plain or encoded', async () => {
    const key = 'sk-CANARY0123456789abcdefghij';

    const answer = await annotate({
      signal: { kind: 'correction', correction: `use ${key}` },
      note: `or ${btoa(key)} or eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl`,
    });

    expect(answer.text).not.toMatch(/CANARY|c2stQ0FOQVJZ|eyJ/);
    expect(answer.text).toContain('[REDACTED]');
    expect(JSON.stringify(await listed())).not.toMatch(/CANARY|c2stQ0FOQVJZ|eyJ/);
  });

  it('happens once for one Idempotency-Key, and refuses other content under it', async () => {
    const headers = { 'idempotency-key': 'annotate-once' };
    const before = (await listed()).length;

    const first = await annotate({ signal: { kind: 'flag' } }, { headers });
    const again = await annotate({ signal: { kind: 'flag' } }, { headers });
    const other = await annotate({ signal: { kind: 'rating', rating: 1 } }, { headers });

    expect(again.json).toEqual(first.json);
    expect(again.headers).toHaveProperty('openwop-idempotent-replay', 'true');
    expect(other).toMatchObject({ status: 409, json: { error: 'idempotency_key_mismatch' } });
    expect(await listed()).toHaveLength(before + 1);
  });

  it('needs runs:annotate, and a run of the same tenant', async () => {
    const body = { signal: { kind: 'flag' } };

    const without = await annotate(body, { key: await harness.keyWithout('runs:annotate') });
    const foreign = await annotate(body, { key: harness.otherTenantKey });
    const foreignAndWrong = await annotate({}, { key: harness.otherTenantKey });

    expect(without).toMatchObject({ status: 403, json: { details: { scopeRequired: 'runs:annotate' } } });
    expect([foreign.status, foreignAndWrong.status]).toEqual([404, 404]);
  });

  it('changes nothing in the run: no event, no other snapshot', async () => {
    const before = await harness.call('GET', `/v1/runs/${runId}`);

    await annotate({ signal: { kind: 'flag' } });

    const after = await harness.call('GET', `/v1/runs/${runId}`);
    expect(after.headers['etag']).toBe(before.headers['etag']);
    expect(after.json).toEqual(before.json);
  });
});

describe('GET /v1/runs/{runId}/annotations', () => {
  it('lists them oldest first, and none for a run without annotations', async () => {
    const fresh = (await harness.start('noop')).runId;
    for (const label of ['one', 'two', 'three']) {
      await harness.call('POST', `/v1/runs/${fresh}/annotations`, {
        body: { signal: { kind: 'label', label } },
      });
    }

    const labels = (await listed(fresh)).map(({ signal }) => (signal as { label: string }).label);

    expect(labels).toEqual(['one', 'two', 'three']);
    expect(await listed((await harness.start('noop')).runId)).toEqual([]);
  });

  it('answers for a run of another tenant as for an unknown one', async () => {
    const foreign = await harness.call('GET', `/v1/runs/${runId}/annotations`, {
      key: harness.otherTenantKey,
    });

    expect(foreign.status).toBe(404);
  });
});

describe('discovery', () => {
  it('offers what works here', async () => {
    const { json } = await harness.call('GET', '/.well-known/openwop', { key: null });

    expect(json).toMatchObject({
      debugBundle: { supported: true },
      feedback: {
        supported: true,
        targets: ['run', 'event', 'node'],
        signals: ['rating', 'correction', 'label', 'flag'],
      },
    });
  });
});

describe.each(publishedShapes('annotation'))('against %s', (_, schema) => {
  it('an annotation is valid', async () => {
    const validate = compileClientSchema(schema);

    const answer = await annotate({
      signal: { kind: 'rating', rating: 2 },
      target: { nodeId: 'noop' },
      note: 'n',
    });

    expect(validate(JSON.parse(answer.text), new WorkBudget())).toEqual([]);
  });
});
