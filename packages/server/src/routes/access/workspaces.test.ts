import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const SCOPES = ['runs:create', 'runs:read', 'runs:cancel', 'webhooks:manage', 'keys:manage', 'runs:annotate'];

describe('a key of a workspace', () => {
  let at: Harness;
  let red: string;
  let blue: string;
  beforeAll(async () => {
    at = await openHarness();
    const keyOf = async (workspace: string) =>
      (await at.createKey({ workspace, scopes: SCOPES, principal: 'first', kind: 'service' })).key;
    [red, blue] = [await keyOf('red'), await keyOf('blue')];
  });
  afterAll(() => at.close());

  async function start(key: string): Promise<string> {
    const { status, json } = await at.call('POST', '/v1/runs', { key, body: { workflowId: 'gate' } });
    expect(status).toBe(201);
    return String(json.runId);
  }

  it('makes runs that belong to the workspace', async () => {
    const runId = await start(red);

    const { json } = await at.call('GET', `/v1/runs/${runId}`, { key: red });

    expect(json.owner).toMatchObject({ tenant: 'default', workspace: 'red' });
  });

  it('reaches no run of another workspace, nor of none', async () => {
    const [other, ofTenant] = [await start(blue), await start(at.key)];

    for (const runId of [other, ofTenant]) {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/events'],
        ['GET', '/events/poll?timeout=1'],
        ['GET', `:diff?against=${runId}`],
        ['GET', '/debug-bundle'],
        ['GET', '/annotations'],
        ['POST', '/cancel'],
        ['POST', ':pause'],
      ] as const) {
        const { status, json } = await at.call(method, `/v1/runs/${runId}${path}`, { key: red });
        expect([status, json.error], `${method} ${path}`).toEqual([403, 'run_forbidden']);
      }
    }
    expect((await at.call('GET', `/v1/runs/${other}`)).json.status).toBe('waiting-approval');
  });

  it('is not answered what another workspace was answered under the same Idempotency-Key', async () => {
    const request = { body: { workflowId: 'gate' }, headers: { 'idempotency-key': 'order-17' } };
    const made: unknown[] = [];
    for (const key of [red, blue, at.key, red])
      made.push((await at.call('POST', '/v1/runs', { ...request, key })).json.runId);

    expect(new Set(made).size).toBe(3);
    expect(made[3]).toBe(made[0]);
  });

  it('compares its own runs with no other', async () => {
    const [own, other] = [await start(red), await start(blue)];

    const { status, json } = await at.call('GET', `/v1/runs/${own}:diff?against=${other}`, { key: red });

    expect([status, json.error]).toEqual([403, 'run_forbidden']);
  });

  it('knows nothing of other tenants', async () => {
    const runId = await start(at.otherTenantKey);

    expect((await at.call('GET', `/v1/runs/${runId}`, { key: red })).status).toBe(404);
  });

  it('lists its own runs and questions', async () => {
    const runId = await start(red);
    const list = async (path: string) => (await at.call('GET', path, { key: red })).text;

    expect(await list('/v1/host/weft/runs?limit=100')).toContain(runId);
    expect(await list('/v1/host/weft/runs?limit=100')).not.toContain('"workspace":"blue"');
    const runs = JSON.parse(await list('/v1/host/weft/runs?limit=100')) as { runs: { runId: string }[] };
    for (const row of runs.runs) {
      const { json } = await at.call('GET', `/v1/runs/${row.runId}`);
      expect(json.owner).toMatchObject({ workspace: 'red' });
    }
  });

  it('makes keys of its own workspace alone, and no webhooks', async () => {
    const make = (body: Record<string, string>) =>
      at.call('POST', '/v1/host/weft/keys', {
        key: red,
        body: { principal: 'first', kind: 'service', scopes: ['runs:read'], ...body },
      });
    const [own, other] = [await make({}), await make({ workspace: 'blue' })];
    const hook = await at.call('POST', '/v1/webhooks', {
      key: red,
      body: { url: 'https://hooks.example.org/', events: ['*'] },
    });

    expect([own.status, own.json.workspace]).toEqual([201, 'red']);
    expect([other.status, other.json.error]).toEqual([403, 'forbidden']);
    expect(hook.status).toBe(403);
    const { text } = await at.call('GET', '/v1/host/weft/keys', { key: red });
    expect(text).not.toContain('"workspace":"blue"');
  });
});
