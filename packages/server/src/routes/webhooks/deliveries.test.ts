import type { Host } from '@weft/engine';
import type { DeadDelivery } from '@weft/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const row: DeadDelivery = {
  deliveryId: 'wh_1.0199e0a0-0000-7000-8000-000000000000.3',
  kind: 'webhook',
  webhookId: 'wh_1',
  runId: '0199e0a0-0000-7000-8000-000000000000',
  sequence: 3,
  attempts: 8,
  reason: 'status_500',
  failedAt: '2030-01-01T00:00:00.000Z',
};
const replayed: string[] = [];

/** A delivery takes hours to become dead, so the store gets a dead one. */
const withDeadDelivery = (host: Host): Host => ({
  ...host,
  webhooks: {
    ...host.webhooks,
    deadDeliveries: async (caller) => ({ rows: caller.tenant === 'default' ? [row] : [] }),
    replay: async (caller, deliveryId) => {
      if (caller.tenant !== 'default' || deliveryId !== row.deliveryId) return false;
      replayed.push(deliveryId);
      return true;
    },
  },
});

let at: Harness;
beforeAll(async () => {
  at = await openHarness({}, withDeadDelivery);
});
afterAll(() => at.close());

it('lists dead deliveries of the caller’s tenant', async () => {
  const mine = await at.call('GET', '/v1/host/weft/deliveries?state=dead');
  const theirs = await at.call('GET', '/v1/host/weft/deliveries', { key: at.otherTenantKey });

  expect(JSON.parse(mine.text)).toEqual({ deliveries: [row] });
  expect(JSON.parse(theirs.text)).toEqual({ deliveries: [] });
});

it('lists no other state', async () => {
  const { status, json } = await at.call('GET', '/v1/host/weft/deliveries?state=waiting');

  expect([status, json.details?.field]).toEqual([400, 'state']);
});

it('replays a dead delivery, once per Idempotency-Key', async () => {
  const path = `/v1/host/weft/deliveries/${row.deliveryId}:replay`;
  const headers = { 'idempotency-key': 'replay-1' };

  const first = await at.call('POST', path, { headers });
  const again = await at.call('POST', path, { headers });

  expect([first.status, again.status]).toEqual([202, 202]);
  expect(again.headers['openwop-idempotent-replay']).toBe('true');
  expect(replayed).toEqual([row.deliveryId]);
});

it('answers 404 for what is not dead, unknown or another tenant’s', async () => {
  const unknown = await at.call('POST', '/v1/host/weft/deliveries/nothing:replay');
  const theirs = await at.call('POST', `/v1/host/weft/deliveries/${row.deliveryId}:replay`, {
    key: at.otherTenantKey,
  });

  expect([unknown.status, theirs.status]).toEqual([404, 404]);
});
