import { openMemoryStore } from '@weft/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const SINCE = Date.UTC(2030, 0, 1);
const store = openMemoryStore();
let at: Harness;
beforeAll(async () => {
  at = await openHarness({}, undefined, undefined, { store, limits: { parkAfterMs: 0 } });
});
afterAll(() => at.close());

/** A run that waits for an approval and is held by no process, set aside. */
async function quarantined(): Promise<string> {
  const { runId } = await at.start('gate');
  await at.reaches(runId, 'waiting-approval');
  await expect.poll(async () => (await store.readRun(runId, undefined))?.holder).toBeUndefined();
  const suspicion = { reason: 'A test.', since: SINCE, seq: 0, quarantinedAt: SINCE };
  await store.commit([{ kind: 'suspicion', batchId: 'q'.repeat(22), runId, suspicion }]);
  return runId;
}

const release = (runId: string, key?: string) =>
  at.call('POST', `/v1/host/weft/runs/${runId}:release`, key === undefined ? {} : { key });

describe('a quarantined run', () => {
  it('says so in its snapshot, in lists, in what it waits for and in the metrics', async () => {
    const runId = await quarantined();

    const [snapshot, listed, why, metrics] = [
      await at.call('GET', `/v1/runs/${runId}`),
      await at.call('GET', '/v1/host/weft/runs?quarantined=true'),
      await at.call('GET', `/v1/host/weft/runs/${runId}/why`),
      await at.call('GET', '/metrics'),
    ];

    const aside = { since: '2030-01-01T00:00:00.000Z', reason: 'A test.' };
    expect(snapshot.json).toMatchObject({ status: 'waiting-approval', weft: { quarantined: aside } });
    expect(listed.json).toMatchObject({ runs: [{ runId, quarantined: aside }] });
    expect(why.json).toMatchObject({ waitingFor: 'release' });
    expect(metrics.text).toMatch(/^weft_runs_quarantined 1$/m);
    await release(runId);
  });

  it('is released by an administrator of its tenant, once, and that is audited', async () => {
    const runId = await quarantined();

    const refused = await release(runId, await at.keyWithout('host:admin'));
    const foreign = await release(runId, at.otherTenantKey);
    const stillAside = await at.call('GET', '/v1/host/weft/runs?quarantined=true');
    const released = await release(runId);
    const again = await release(runId);

    expect(refused).toMatchObject({ status: 403, json: { error: 'forbidden' } });
    expect(foreign).toMatchObject({ status: 404, json: { error: 'not_found' } });
    expect(stillAside.json).toMatchObject({ runs: [{ runId }] });
    expect(released).toMatchObject({ status: 200, json: { runId, released: true } });
    expect(again).toMatchObject({ status: 409, json: { error: 'conflict' } });
    expect((await at.call('GET', `/v1/runs/${runId}`)).json).not.toHaveProperty('weft.quarantined');
    const audit = await store.readAudit(0, 1_000);
    expect(audit.filter(({ action, target }) => action === 'run.release' && target === runId)).toHaveLength(
      1,
    );
  });

  it('is ended by a cancel', async () => {
    const runId = await quarantined();

    const cancelled = await at.call('POST', `/v1/runs/${runId}/cancel`, { body: {} });

    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled' } });
    expect((await at.call('GET', '/v1/host/weft/runs?quarantined=true')).json).toMatchObject({ runs: [] });
  });
});
