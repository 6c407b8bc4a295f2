import { afterEach, beforeEach, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import { type FakeReceiver, fakeReceiver } from '../testing/fake-receiver.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

let receiver: FakeReceiver;
let clock: TestClock;
let at: TestHost;
beforeEach(async () => {
  receiver = fakeReceiver();
  clock = testClock();
  at = await startHost({ egress: receiver.egress, clock });
});
afterEach(() => at.host.stop(1_000));

const dead = (caller = alice) => at.host.webhooks.deadDeliveries(caller, { limit: 10 });

async function givenDeadDelivery(): Promise<{ runId: string; webhookId: string }> {
  receiver.answer = () => 500;
  const webhook = await at.host.webhooks.register(alice, {
    url: 'https://a.example.org/',
    events: ['run.completed'],
    tags: [],
  });
  const runId = await at.run(await at.register({ nodes: [node('a')] }));
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await until(() => receiver.requests.length === attempt);
    await until(() => at.host.stats()['deliveriesSending'] === 0);
    clock.advance(4 * 60 * 60 * 1_000);
  }
  return { runId, webhookId: webhook.replayed ? '' : webhook.webhookId };
}

it('a delivery that was given up is listed for its tenant, with what it was and why', async () => {
  const { runId, webhookId } = await givenDeadDelivery();

  const { rows } = await dead();

  expect(rows).toMatchObject([
    { kind: 'webhook', webhookId, runId, attempts: 8, reason: 'status_500', deliveryId: expect.any(String) },
  ]);
  expect((await dead(stranger)).rows).toEqual([]);
});

it('a dead delivery that is replayed starts from its first attempt and leaves the list', async () => {
  await givenDeadDelivery();
  const [row] = (await dead()).rows;
  const deliveryId = row?.deliveryId ?? '';
  receiver.answer = () => 200;

  expect(await at.host.webhooks.replay(stranger, deliveryId)).toBe(false);
  expect(await at.host.webhooks.replay(alice, deliveryId)).toBe(true);

  await until(() => receiver.requests.length === 9);
  expect(receiver.requests[8]?.body).toBe(receiver.requests[0]?.body);
  expect((await dead()).rows).toEqual([]);
  expect(await at.host.webhooks.replay(alice, deliveryId)).toBe(false);
});

it('a replayed delivery that fails again is tried again', async () => {
  await givenDeadDelivery();
  const [row] = (await dead()).rows;

  await at.host.webhooks.replay(alice, row?.deliveryId ?? '');

  await until(() => receiver.requests.length === 9);
  await until(() => at.host.stats()['deliveriesSending'] === 0);
  clock.advance(10_000);
  await until(() => receiver.requests.length === 10);
  expect((await dead()).rows).toEqual([]);
});
