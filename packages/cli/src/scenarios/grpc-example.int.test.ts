import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveHere } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/', import.meta.url).pathname;
const KEY = `weft_live_${'e'.repeat(43)}`;

let folder: string;
let host: Served;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-grpc-example-'));
  host = await serveHere(folder, ['--grpc-port', '0', '--workflows', join(EXAMPLES, 'workflows')], {
    WEFT_API_KEY: KEY,
  });
});
afterAll(async () => {
  await host.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the program of the guide to gRPC', () => {
  it('starts a run, follows it and says how it ended', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(EXAMPLES, 'grpc/follow-run.mjs'), 'order-fulfilment', '{"quantity": 20}'],
      { env: { ...process.env, WEFT_URL: host.url, WEFT_API_KEY: KEY } },
    );

    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ +0 {2}run\.started/);
    expect(lines.at(-2)).toContain('run.completed');
    expect(lines.at(-1)).toMatch(/^Run \S+ completed$/);
  });
});
