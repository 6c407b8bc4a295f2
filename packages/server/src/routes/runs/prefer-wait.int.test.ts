import { type ClientRequest, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness({ maxPollsPerTenant: 1 });
  await at.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => at.close());

it('gives its place to others when the client of a run that is waited for has left', async () => {
  const { runId } = await at.start('wait');
  const { port } = at.app.server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${at.key}`, prefer: 'wait=60' };
  let isCut = false;
  /** Again where one of the probes below had the place. */
  const wait = (): ClientRequest =>
    request({ port, path: `/v1/runs/${runId}`, headers }, (answer) => {
      answer.resume();
      waiting = wait();
    })
      .on('error', () => {
        isCut = true;
      })
      .end();
  let waiting = wait();
  const status = async () =>
    (await at.call('POST', '/v1/runs', { body: { workflowId: 'noop' }, headers: { prefer: 'wait=1' } }))
      .status;
  await expect.poll(status, { timeout: 10_000 }).toBe(429);

  waiting.destroy();
  await expect.poll(() => isCut).toBe(true);

  await expect.poll(status, { timeout: 10_000 }).toBe(201);
});
