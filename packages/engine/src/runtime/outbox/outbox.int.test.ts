import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import { type LoopbackReceiver, loopbackReceiver, type Received } from '../testing/loopback-receiver.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

/** Real requests to a receiver on this machine, admitted as an operator would; time can be put forward. */

const STEPS = { nodes: [node('a'), node('b'), node('c')], edges: chain('a', 'b', 'c') };
const GATE = { nodes: [node('gate', 'core.approvalGate', { title: 'Ship it?' })] };

let receiver: LoopbackReceiver;
let skipped: number;
let store: Store;
let at: TestHost;

const clock: Clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() };

beforeEach(async () => {
  skipped = 0;
  receiver = await loopbackReceiver();
  store = openMemoryStore({ clock: clock.now });
  at = await start();
});
afterEach(async () => {
  await at.host.stop(100);
  await receiver.close();
});

const start = (): Promise<TestHost> => startHost({ store, clock, egressAllow: [receiver.pair] });

async function webhook(path: string, events: readonly string[] = ['*']): Promise<string> {
  const created = await at.host.webhooks.register(alice, { url: `${receiver.url}${path}`, events, tags: [] });
  if (created.replayed) throw new Error('nothing was asked before');
  return created.secret;
}
const sequences = (path: string): unknown[] =>
  receiver.received
    .filter((each) => each.path === path)
    .map(({ json }) => (json['event'] as { sequence: number }).sequence);
const idle = () => until(() => at.host.stats()['deliveriesSending'] === 0);

function isSigned(secret: string, { headers, body }: Received): boolean {
  const timestamp = String(headers['x-openwop-timestamp']);
  const mac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return (
    headers['x-openwop-signature'] === `sha256=${mac}` && headers['openwop-signature'] === `sha256=${mac}`
  );
}

describe('webhooks', () => {
  it('arrive signed, every event once, in the order of each run', async () => {
    const secret = await webhook('/all');
    const workflowId = await at.register(STEPS);
    const runIds = await Promise.all(Array.from({ length: 5 }, () => at.run(workflowId)));
    const length = (await at.types(runIds[0] ?? '')).length;

    await until(() => receiver.received.length >= 5 * length);

    await idle();
    expect(receiver.received).toHaveLength(5 * length);
    expect(receiver.received.every((each) => isSigned(secret, each))).toBe(true);
    for (const runId of runIds) {
      const mine = receiver.received.filter(({ json }) => json['runId'] === runId);
      expect(mine.map(({ json }) => (json['event'] as { sequence: number }).sequence)).toEqual(
        Array.from({ length }, (_, index) => index),
      );
    }
  });

  it('are tried again after a failure, before anything later of their run', async () => {
    let failures = 2;
    receiver.answer = (response) => response.writeHead(failures-- > 0 ? 500 : 200).end();
    await webhook('/all', ['run.started', 'run.completed']);
    const runId = await at.run(await at.register(STEPS));
    const last = (await at.types(runId)).length - 1;

    for (const count of [1, 2]) {
      await until(() => receiver.received.length === count);
      await idle();
      skipped += 60_000;
    }

    await until(() => receiver.received.length === 4);
    expect(sequences('/all')).toEqual([0, 0, 0, last]);
  });

  it('follow no redirect', async () => {
    receiver.answer = (response, { path }) =>
      path === '/moved'
        ? response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end()
        : response.writeHead(200).end();
    await webhook('/moved', ['run.completed']);
    await at.run(await at.register(STEPS));
    await until(() => receiver.received.length === 1);
    await idle();

    skipped += 60_000;

    await until(() => receiver.received.length === 2);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/moved', '/moved']);
  });

  it('reach a fast receiver while a slow one answers nothing', async () => {
    receiver.answer = (response, { path }) => {
      if (path === '/fast') response.writeHead(200).end();
    };
    await webhook('/slow');
    await webhook('/fast', ['run.completed']);
    const workflowId = await at.register(STEPS);

    for (let count = 0; count < 20; count += 1) await at.run(workflowId);

    await until(() => sequences('/fast').length === 20);
    expect(sequences('/slow').length).toBeLessThanOrEqual(4);
  });

  it('that failed when the host stopped are sent by the next one', async () => {
    receiver.answer = () => undefined;
    await webhook('/all', ['run.completed']);
    await at.run(await at.register(STEPS));
    await until(() => receiver.received.length === 1);
    await at.host.stop(0);
    receiver.answer = (response) => response.writeHead(200).end();

    at = await start();

    await until(() => receiver.received.length === 2);
    await idle();
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
  });

  it('go nowhere when their receiver is no longer admitted', async () => {
    await webhook('/all', ['run.completed']);
    await at.host.stop(100);
    const reasons: unknown[] = [];
    at = await startHost({ store, clock, log: (_level, { reason }) => reasons.push(reason) });

    await at.run(await at.register(STEPS));

    await until(() => reasons.includes('url_refused'));
    expect(receiver.received).toEqual([]);
  });
});

describe('callbacks', () => {
  it('carry the token that answers the question', async () => {
    const runId = await at.run(await at.register(GATE), { callbackUrl: `${receiver.url}/desk` });

    await until(() => receiver.received.length === 1);
    const { secret } = await at.host.webhooks.callbackSecret(alice);
    const [asked] = receiver.received;

    expect(asked !== undefined && isSigned(secret, asked)).toBe(true);
    await at.host.interrupts.answerLink(String(asked?.json['interruptToken']), { action: 'accept' });
    await until(async () => (await at.status(runId)) === 'completed');
  });

  it('are withdrawn when the question is answered before they get through', async () => {
    receiver.answer = (response) => response.writeHead(503).end();
    const runId = await at.run(await at.register(GATE), { callbackUrl: `${receiver.url}/desk` });
    await until(() => receiver.received.length === 1);
    await idle();

    await at.host.interrupts.answerLink(String(receiver.received[0]?.json['interruptToken']), {
      action: 'accept',
    });
    skipped += 60_000;

    // A later question shows that what was due before it has been looked at.
    await at.run('test-workflow', { callbackUrl: `${receiver.url}/later` });
    await until(() => receiver.received.some(({ path }) => path === '/later'));
    await idle();
    expect(receiver.received.filter(({ json }) => json['runId'] === runId)).toHaveLength(1);
  });
});
