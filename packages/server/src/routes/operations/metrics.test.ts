import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;

beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

describe('GET /metrics', () => {
  it('answers administrators in Prometheus text format', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');

    const answer = await at.call('GET', '/metrics');

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.text).toContain(
      'openwop_run_completed_total{run_status="completed",workflow_id="noop"} 1\n',
    );
    expect(answer.text).toContain('openwop_queue_depth{tenant_id="all"} 0\n');
    for (const name of [
      'openwop_run_active',
      'openwop_run_backlog_seconds_count',
      'weft_claim_age_seconds',
      'weft_commit_units_count',
      'weft_commit_duration_seconds_count',
      'weft_inbox_lag_seconds_count',
      'weft_outbox_age_seconds_count',
      'weft_eventloop_delay_seconds',
      'weft_queue_oldest_seconds',
    ]) {
      expect(answer.text).toMatch(new RegExp(`^${name}[ {]`, 'm'));
    }
    expect(answer.text).not.toContain(runId);
  });

  it('counts how long commands wait for their decision', async () => {
    const { runId } = await at.start('wait');
    await at.call('POST', `/v1/runs/${runId}/cancel`, { body: {} });
    await at.reaches(runId, 'cancelled');

    const { text } = await at.call('GET', '/metrics');

    expect(text).toMatch(/^weft_inbox_lag_seconds_count 1$/m);
    expect(text).toMatch(
      /^openwop_node_completed_total\{node_type="core.delay",run_status="cancelled"\} 1$/m,
    );
  });

  it('needs a key with host:admin', async () => {
    const key = await at.keyWithout('host:admin');

    expect((await at.call('GET', '/metrics', { key })).status).toBe(403);
    expect((await at.call('GET', '/metrics', { key: null })).status).toBe(401);
  });
});
