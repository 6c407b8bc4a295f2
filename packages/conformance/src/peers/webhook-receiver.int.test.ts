import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver(0);
});
afterEach(() => receiver.stop());

function deliver(url: string, body: string) {
  return fetch(url, { method: 'POST', body, headers: { 'X-openwop-Signature': 'sha256=00' } });
}

describe('the receiver of webhooks', () => {
  it('keeps deliveries as they came, each URL its own', async () => {
    const url = receiver.newUrl();
    const other = receiver.newUrl();

    const answer = await deliver(url, '{ "runId": "ö" }');

    expect(answer.status).toBe(200);
    expect(receiver.deliveriesTo(url)).toEqual([
      expect.objectContaining({
        rawBody: '{ "runId": "ö" }',
        headers: expect.objectContaining({ 'x-openwop-signature': 'sha256=00' }),
      }),
    ]);
    expect(receiver.deliveriesTo(other)).toEqual([]);
  });

  it('redirects a host where that is configured', async () => {
    const target = receiver.newUrl();
    const url = receiver.newUrl(target);

    const answer = await fetch(url, { method: 'POST', body: '{}', redirect: 'manual' });

    expect(answer.status).toBe(307);
    expect(answer.headers.get('location')).toBe(target);
    expect(receiver.deliveriesTo(url)).toHaveLength(1);
    expect(receiver.deliveriesTo(target)).toEqual([]);
  });

  it('knows no other path', async () => {
    const answer = await deliver(`http://${receiver.address}/elsewhere`, '{}');

    expect(answer.status).toBe(404);
  });

  it('does not take a body without end, and takes the next one', async () => {
    const url = receiver.newUrl();

    const answer = await deliver(url, 'x'.repeat(5 * 1_024 * 1_024)).catch(() => undefined);

    expect(answer?.status ?? 413).toBe(413);
    expect(receiver.deliveriesTo(url)).toEqual([]);
    expect((await deliver(url, '{}')).status).toBe(200);
  });

  it('says which port is in use', async () => {
    const port = Number(receiver.address.split(':')[1]);

    await expect(startWebhookReceiver(port)).rejects.toThrow(`port ${port} of 127.0.0.1: it is in use`);
  });
});
