import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';

const API_KEY = `weft_live_${'t'.repeat(43)}`;
const EXAMPLES = new URL('../../../../examples/workflows', import.meta.url).pathname;
/** Begins as a credential may, which takes a second look; is not Latin; is as long as a request may be. */
const TEXT = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202Eevil${'x'.repeat(900_000)}`;

let folder: string;
let host: HostProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-first-text-'));
  host = await startHostProcess({
    dataFolder: folder,
    port: await freePort(),
    apiKey: API_KEY,
    flags: ['--workflows', EXAMPLES],
    // A host that has stood still for so long ends, so the next request fails.
    env: { WEFT_WATCHDOG_MS: '10000' },
  });
});
afterAll(async () => {
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  return fetch(`${host.url}${path}`, { ...init, headers });
}

// How fast V8 runs a loop depends on what it has seen before, so the process must be a new one.
it('a long text is shown by a host that has seen none before', async () => {
  const body = JSON.stringify({ workflowId: 'order-fulfilment', inputs: { orderId: TEXT, quantity: 1 } });
  const created = await call('/v1/runs', { method: 'POST', body });
  const { runId } = (await created.json()) as { runId: string };

  const shown = await call(`/v1/runs/${runId}`);

  expect(shown.status).toBe(200);
  expect(await shown.text()).toContain('evilxxx');
});
