import { openMemoryStore, type StoredAuditEntry } from '@weft/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Harness, openHarness } from '../testing/harness.ts';

const store = openMemoryStore();
let at: Harness;
beforeAll(async () => {
  at = await openHarness(
    { trustedProxies: ['10.0.0.0/8', '2001:db8::1'] },
    (host) => host,
    () => undefined,
    { store, secretsKey: new Uint8Array(32).fill(3) },
  );
});
afterAll(() => at.close());

async function newest(action: string): Promise<StoredAuditEntry | undefined> {
  return (await store.readAudit(0, 10_000)).findLast((entry) => entry.action === action);
}

/** What an act sent this way leaves in the audit log. */
async function recorded(options: CallOptions): Promise<unknown> {
  await at.call('POST', '/v1/host/weft/keys', {
    body: { principal: 'operator', kind: 'service', scopes: ['runs:read'] },
    ...options,
  });
  return (await newest('key.create'))?.details?.['address'];
}

const forwarded = (text: string): Pick<CallOptions, 'headers'> => ({ headers: { 'x-forwarded-for': text } });

describe('the address of a client', () => {
  it('is that of the connection, in one spelling', async () => {
    expect(await recorded({ from: '203.0.113.7' })).toBe('203.0.113.7');
    expect(await recorded({ from: '::ffff:203.0.113.7' })).toBe('203.0.113.7');
    expect(await recorded({ from: '2001:db8::9' })).toBe('2001:db8::9');
  });

  it('is not what the client says of itself', async () => {
    expect(await recorded({ from: '203.0.113.7', ...forwarded('127.0.0.1') })).toBe('203.0.113.7');
    expect(await recorded({ from: '203.0.113.7', headers: { forwarded: 'for=127.0.0.1' } })).toBe(
      '203.0.113.7',
    );
  });

  it('is what a trusted proxy says, and not what the client wrote before it', async () => {
    expect(await recorded({ from: '10.1.2.3', ...forwarded('203.0.113.7') })).toBe('203.0.113.7');
    expect(await recorded({ from: '10.1.2.3', ...forwarded('127.0.0.1, 203.0.113.7') })).toBe('203.0.113.7');
    expect(await recorded({ from: '10.1.2.3', ...forwarded('198.51.100.1, 203.0.113.7, 10.9.9.9') })).toBe(
      '203.0.113.7',
    );
    expect(await recorded({ from: '2001:db8::1', ...forwarded('[2001:db8::77]:4711') })).toBe('2001:db8::77');
    expect(await recorded({ from: '10.1.2.3', ...forwarded('203.0.113.7:55') })).toBe('203.0.113.7');
  });

  it('is the proxy’s own where what it says is no address', async () => {
    expect(await recorded({ from: '10.1.2.3', ...forwarded('unknown') })).toBe('10.1.2.3');
    expect(await recorded({ from: '10.1.2.3', ...forwarded('<script>') })).toBe('10.1.2.3');
  });

  it('stands with the key in the entry of an act, of a denial and of an answer through a link', async () => {
    const { runId } = await at.start('gate');
    await at.reaches(runId, 'waiting-approval');
    const { json } = await at.call('GET', `/v1/runs/${runId}`);
    const reader = await at.createKey({ scopes: ['runs:read'] });

    await at.call('POST', `/v1/interrupts/${String(json.interrupt?.interruptToken)}`, {
      key: null,
      from: '203.0.113.8',
      body: { resumeValue: { action: 'accept' } },
    });
    await at.call('POST', '/v1/runs', { key: reader.key, from: '203.0.113.9', body: {} });

    expect(await newest('run.resolve')).toMatchObject({
      actor: 'link',
      details: { keyId: 'link', address: '203.0.113.8' },
    });
    await expect
      .poll(() => newest('access.denied'))
      .toMatchObject({
        actor: 'tester',
        details: { keyId: reader.keyId, address: '203.0.113.9', code: 'forbidden' },
      });
  });
});
