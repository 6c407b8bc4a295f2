import { openMemoryStore } from '@weft/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const TYPES = '/v1/host/weft/node-types';

let at: Harness;
beforeAll(async () => {
  const store = openMemoryStore();
  const type = {
    typeId: 'acme.charge',
    title: 'Charge a card',
    inputs: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    digest: 'a'.repeat(64),
    registeredAt: 0,
  };
  // As a worker of another process registered them.
  const body = JSON.stringify(['1.0.0', '1.1.0'].map((version) => ({ ...type, version })));
  const place = { tenant: 'default', collection: 'node-types', scope: '', id: '0' };
  await store.commit([{ kind: 'document', batchId: 'n'.repeat(22), ...place, body, at: 0 }]);
  at = await openHarness({}, undefined, undefined, { store });
});
afterAll(() => at.close());

describe('node types over HTTP', () => {
  it('are listed, all or the versions of one', async () => {
    const all = await at.call('GET', TYPES);
    const one = await at.call('GET', `${TYPES}?typeId=acme.charge`);

    expect(all.json.types).toContainEqual(expect.objectContaining({ typeId: 'core.noop', builtin: true }));
    expect(one.json.types).toMatchObject([
      { typeId: 'acme.charge', version: '1.0.0', builtin: false, title: 'Charge a card' },
      { typeId: 'acme.charge', version: '1.1.0' },
    ]);
    expect((await at.call('GET', `${TYPES}?typeId=a%00b`)).status).toBe(400);
  });

  it('are mapped by who may write workflows, and refused with the reason', async () => {
    const map = (body: object, typeId = 'acme.charge', key?: string) =>
      at.call('POST', `${TYPES}/${typeId}:map`, { body: body as never, ...(key !== undefined && { key }) });

    expect((await map({ version: '1.0.0', to: '1.1.0' })).status).toBe(204);
    expect((await map({ version: '1.0.0' })).status).toBe(204);
    expect((await map({ version: '1.0.0', to: '9.0.0' })).status).toBe(404);
    expect((await map({ version: '1.0.0', to: '1.1.0' }, 'acme.ship')).status).toBe(404);
    expect((await map({ version: '1.0.0', to: '1.0.0' })).json).toMatchObject({ error: 'validation_error' });
    expect((await map({ version: '1.0.0', too: '1.1.0' })).json).toMatchObject({ error: 'validation_error' });
    expect((await map({})).status).toBe(400);
    const key = await at.keyWithout('workflows:write');
    expect((await map({ version: '1.0.0', to: '1.1.0' }, 'acme.charge', key)).status).toBe(403);
  });

  it('are used by definitions in short form; one that is unknown is refused by name', async () => {
    const workflow = (typeId: string) => ({
      $schema: '/v1/schemas/workflow-source',
      id: 'shop',
      version: '1',
      nodes: [{ id: 'charge', typeId, inputs: { amount: { type: 'static', value: 1 } } }],
    });

    const unknown = await at.call('POST', '/v1/host/weft/workflows', { body: workflow('acme.ship') });
    const checked = await at.call('POST', '/v1/host/weft/workflows:check', { body: workflow('acme.charge') });
    const registered = await at.call('POST', '/v1/host/weft/workflows', { body: workflow('acme.charge') });

    expect([unknown.status, unknown.json]).toMatchObject([400, { error: 'validation_error' }]);
    expect(unknown.json.message).toContain('no node type "acme.ship"');
    expect(checked.json).toMatchObject({
      ok: true,
      pinned: [{ path: '/nodes/0', typeId: 'acme.charge', version: '1.1.0' }],
    });
    expect(registered.status).toBe(201);
    expect((await at.call('GET', '/v1/workflows/shop')).json).toMatchObject({
      name: 'shop',
      nodes: [{ settings: { typeVersion: '1.1.0' }, position: { x: 0, y: 0 } }],
    });
    expect((await at.call('GET', '/v1/host/weft/workflows')).json).toMatchObject({ waiting: [] });
  });
});
