import type { JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import { type FakeReceiver, fakeReceiver, isSignedWith } from '../testing/fake-receiver.ts';
import { testClock } from '../testing/test-clock.ts';
import { alice, newRun, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const CALLBACK = 'https://desk.example.org/questions';
const GATE = { nodes: [node('gate', 'core.approvalGate', { title: 'Ship it?' })] };

let receiver: FakeReceiver;
let at: TestHost;
beforeEach(async () => {
  receiver = fakeReceiver();
  at = await startHost({ egress: receiver.egress, publicUrl: 'https://weft.example.org/' });
});
afterEach(() => at.host.stop(1_000));

async function asked(callbackUrl = CALLBACK): Promise<string> {
  return await at.run(await at.register(GATE), { callbackUrl });
}
async function settled(count: number): Promise<void> {
  await until(() => receiver.requests.length >= count);
  await until(() => at.host.stats()['deliveriesSending'] === 0);
}
const first = (): Promise<JsonObject> => until(() => receiver.bodies()[0]);

describe('a run with a callbackUrl', () => {
  it('has its question sent there, with a link that answers it', async () => {
    const runId = await asked();

    const body = await first();

    expect(body).toMatchObject({
      runId,
      workflowId: 'test-workflow',
      nodeId: 'gate',
      interruptId: 'gate:0',
      kind: 'approval',
      key: 'gate:0',
    });
    const token = String(body['interruptToken']);
    expect(body['resolveUrl']).toBe(`https://weft.example.org/v1/interrupts/${token}`);
    await at.host.interrupts.answerLink(token, { action: 'accept' });
    await until(async () => (await at.status(runId)) === 'completed');
  });

  it('gets the tenant’s signature, under the header names of webhooks', async () => {
    await asked();
    await first();

    const [request] = receiver.requests;
    const { secret } = await at.host.webhooks.callbackSecret(alice);

    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-openwop-webhook-id': 'callback',
      'x-openwop-event-type': 'interrupt.requested',
    });
    expect(isSignedWith(secret, request)).toBe(true);
    expect(request?.followRedirects).toBe(false);
    expect((await at.host.webhooks.callbackSecret(alice)).secret).toBe(secret);
    expect((await at.host.webhooks.callbackSecret(stranger)).secret).not.toBe(secret);
  });

  it('has no token in its log or in the outbox', async () => {
    receiver.answer = () => 500;
    const runId = await asked();

    const token = String((await first())['interruptToken']);

    const log = await at.store.readEvents(runId, 0, 100, 1e6);
    expect(JSON.stringify(log)).not.toContain(token);
  });

  it('gets nothing more about a question that was answered since', async () => {
    await at.host.stop(1_000);
    const clock = testClock();
    at = await startHost({ egress: receiver.egress, clock });
    receiver.answer = () => 503;
    const runId = await asked();
    await settled(1);
    await at.host.runs.command(alice, runId, {
      type: 'resolve',
      nodeId: 'gate',
      value: { action: 'accept' },
      by: 'alice',
      byUser: false,
      viaLink: false,
    });

    clock.advance(10_000);

    // A later question shows that what was due before it has been looked at.
    const later = await asked();
    await settled(2);
    expect(receiver.bodies().map((body) => body['runId'])).toEqual([runId, later]);
  });

  it('is not sent a link where a link may not answer', async () => {
    const keyed = await at.register(
      { nodes: [node('gate', 'core.approvalGate', { profile: 'openwop-interrupt-auth-required' })] },
      'keyed',
    );
    await at.run(keyed, { callbackUrl: CALLBACK });

    const body = await first();

    expect(body).not.toHaveProperty('interruptToken');
    expect(body).not.toHaveProperty('resolveUrl');
  });
});

describe('a callbackUrl', () => {
  it.each([
    'http://desk.example.org/',
    'https://ada:pw@desk.example.org/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://localhost/',
    'https://10.1.2.3/',
    'https://metadata.google.internal/',
    'ftp://desk.example.org/',
  ])('such as %s is refused before the run exists', async (callbackUrl) => {
    const workflowId = await at.register(GATE);

    const refused = at.host.runs.create(alice, newRun(workflowId, { callbackUrl }));

    await expect(refused).rejects.toMatchObject({
      code: 'validation_error',
      details: { field: 'callbackUrl' },
    });
    await expect(refused).rejects.not.toThrow(/pw/);
    expect((await at.host.runs.list(alice, {}, { limit: 10 })).rows).toEqual([]);
  });

  it('of an admitted pair may be plain http and private', async () => {
    await at.host.stop(1_000);
    at = await startHost({ egress: receiver.egress, egressAllow: ['127.0.0.1:8080'] });

    await asked('http://127.0.0.1:8080/questions');

    expect(await first()).toMatchObject({ kind: 'approval' });
  });
});
