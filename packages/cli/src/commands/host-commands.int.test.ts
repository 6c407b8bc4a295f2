import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_SCOPES, type Host, createHost, ensureFirstKey, newKey, openMemoryStore } from '@weft/engine';
import { type RunningServer, createApp, startServer } from '@weft/server';
import { createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../main.ts';
import { PROGRAM } from '../program-name.ts';
import { type RecordedIo, recordedIo } from '../testing/recorded-io.ts';
import { freePort } from '../testing/host-process.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

const store = openMemoryStore();
let folder: string;
let host: Host;
let server: RunningServer;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-cli-'));
  host = createHost({ store, version: '0.0.0', secretsKey: randomBytes(32), limits: { parkAfterMs: 0 } });
  await host.start();
  key = newKey(randomBytes, false);
  await ensureFirstKey({ store, key, test: false, tenant: 'default', now: Date.now(), random: randomBytes });
  const app = createApp({ host, options: {}, log: () => undefined });
  server = await startServer(app, { host: '127.0.0.1', port: 0, graceMs: 200 });
});

afterAll(async () => {
  await server.shutdown();
  await host.stop(200);
  await rm(folder, { recursive: true, force: true });
});

function io(isTTY = false): RecordedIo {
  return recordedIo({ cwd: folder, env: { WEFT_URL: server.url, WEFT_API_KEY: key }, isTTY });
}

async function weft(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const recorded = io();
  const code = await main(argv, recorded);
  return { code, out: recorded.out(), err: recorded.err() };
}

function lines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('node types', () => {
  it('are listed, and versions of those that workers serve are mapped', async () => {
    const inputs = {
      type: 'object',
      properties: { amount: { type: 'number' }, note: {} },
      required: ['amount'],
    };
    const type = { typeId: 'acme.charge', title: 'Charge', inputs, digest: 'a'.repeat(64), registeredAt: 0 };
    // As a worker of another process registered them.
    const body = JSON.stringify(['1.0.0', '1.1.0'].map((version) => ({ ...type, version })));
    const place = { tenant: 'default', collection: 'node-types', scope: '', id: '0' };

    const before = await weft('nodes', 'ls');
    await store.commit([{ kind: 'document', batchId: 'n'.repeat(22), ...place, body, at: 0 }]);
    const listed = await weft('nodes', 'ls');
    const all = await weft('nodes', 'ls', '--all');
    const asJson = await weft('nodes', 'ls', 'acme.charge', '--json');
    const mapped = await weft('nodes', 'map', 'acme.charge', '1.0.0', '1.1.0');
    const removed = await weft('nodes', 'map', 'acme.charge', '1.0.0', '--remove');
    const unknown = await weft('nodes', 'map', 'acme.charge', '1.0.0', '7.0.0');
    const neither = await weft('nodes', 'map', 'acme.charge', '1.0.0');

    expect(before).toMatchObject({ code: 0, out: '' });
    expect(before.err).toContain('No worker has served a node type yet');
    expect(listed.out).toMatch(/^TYPE +VERSION .*\nacme\.charge +1\.0\.0 +0 +amount, note\? +Charge\n/);
    expect(listed.out).not.toContain('core.noop');
    expect(all.out).toMatch(/core\.noop +built in/);
    expect(lines(asJson.out)).toMatchObject([{ version: '1.0.0', builtin: false }, { version: '1.1.0' }]);
    expect(mapped).toMatchObject({
      code: 0,
      out: 'Workers of acme.charge 1.1.0 perform the tasks of 1.0.0.\n',
    });
    expect(removed.code).toBe(0);
    expect(unknown.err).toContain('has no version "7.0.0"; it has 1.0.0, 1.1.0');
    expect([unknown.code, neither.code]).toEqual([3, 2]);
  });
});

describe('workers', () => {
  it('are listed with what they serve and what they have in hand, for people and for programs', async () => {
    const client = createClient({ baseUrl: server.url, apiKey: key });
    const before = await weft('workers', 'ls');
    const body = {
      ...{ name: 'till-1', capacity: 8 },
      types: [{ typeId: 'acme.list', version: '2.0.0', inputs: { type: 'object' } }],
    };
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const address = `${server.url}/v1/host/weft/workers`;
    const registered = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
    const { workerId } = (await registered.json()) as { workerId: string };

    const listed = await weft('workers', 'ls');
    const asJson = await weft('workers', 'ls', '--json');
    await fetch(`${address}/${workerId}`, { method: 'DELETE', headers });

    expect(before).toMatchObject({ code: 0, out: '' });
    expect(before.err).toContain('No worker is connected. Start one with: weft worker DIR');
    expect(listed.out).toMatch(
      /^WORKER +STATE +TASKS +SINCE +NODE +TYPES\ntill-1 +disconnected +0\/8 .*acme\.list 2\.0\.0\n/,
    );
    expect(lines(asJson.out)).toMatchObject([{ workerId, name: 'till-1', capacity: 8, running: 0 }]);
    expect(await client.workers.list()).toEqual([]);
  });
});

describe('workflows', () => {
  it('are checked without a host, with the line of every problem', async () => {
    const text = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    const broken = text
      .replace('"core.delay"', '"core.dealy"')
      .replace('"sourceNodeId": "wait"', '"sourceNodeId": "unknown"');
    await writeFile(join(folder, 'broken.json'), broken);

    const good = await weft('workflows', 'check', join(EXAMPLES, 'reminder.json'));
    const bad = await weft('workflows', 'check', 'broken.json');

    expect(good).toMatchObject({ code: 0, out: '' });
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/broken\.json:\d+: error: .*core\.dealy/);
    expect(bad.out).toMatch(/broken\.json:\d+: error: .*unknown/);
  });

  it('are refused with all that is wrong with them, for people and for programs', async () => {
    const text = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    await writeFile(join(folder, 'misspelt.json'), text.replace('"version"', '"versoin"'));

    const shown = await weft('workflows', 'register', 'misspelt.json');
    const asJson = await weft('workflows', 'register', 'misspelt.json', '--json');

    expect(shown.code).toBe(3);
    expect(shown.err).toMatch(
      /The field "version" is missing\. 1 more problem is in the details\.\n {2}\/versoin: .*did you mean "version"/,
    );
    expect(lines(asJson.err)).toMatchObject([{ error: 'validation_error', details: { count: 2 } }]);
  });

  it('are registered once, listed and shown', async () => {
    const first = await weft('workflows', 'register', join(EXAMPLES, 'reminder.json'));
    const again = await weft('workflows', 'register', join(EXAMPLES, 'reminder.json'));
    const listed = await weft('workflows', 'ls');
    const shown = await weft('workflows', 'show', 'reminder', '--json');

    expect(first).toMatchObject({ code: 0, out: 'reminder@1.0.0  registered\n' });
    expect(again).toMatchObject({ code: 0, out: 'reminder@1.0.0  already registered, nothing changed\n' });
    expect(listed.out).toMatch(
      /^WORKFLOW +VERSION +NODES +REGISTERED +NAME\nreminder +1\.0\.0 +current +5 +just now +Reminder\n$/,
    );
    expect(JSON.parse(shown.out)).toMatchObject({ id: 'reminder', nodes: expect.any(Array) });
  });

  it('with other content under the same version are refused as a condition not met', async () => {
    const text = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    await writeFile(join(folder, 'changed.json'), text.replace('"Reminder"', '"Other"'));

    const result = await weft('workflows', 'register', 'changed.json', '--json');

    expect(result.code).toBe(4);
    expect(JSON.parse(result.err)).toMatchObject({ error: 'workflow_version_exists' });
  });
});

describe('a run', () => {
  it('is watched to its end, and the exit code is its outcome', async () => {
    const result = await weft('run', 'reminder', '--input', 'delayMs=10', '--input', 'name=Grace', '--watch');

    expect(result).toMatchObject({ code: 0, err: '' });
    expect(result.out).toContain('run.started');
    expect(result.out).toMatch(/Run \S+ completed in .*\(\d+ events\)\./);
    expect(result.out).toContain('"message": "Grace, we are waiting for your answer."');
  });

  it('is redrawn on a terminal', async () => {
    const recorded = io(true);

    const code = await main(['run', 'reminder', '-i', 'delayMs=10', '-w'], recorded);

    expect({ code, err: recorded.err() }).toEqual({ code: 0, err: '' });
    expect(recorded.out()).toContain('\u001B[J');
    expect(recorded.out()).toMatch(/wait +\u001B\[32mcompleted/);
  });

  it('is a stream of documents with --json', async () => {
    const result = await weft('run', 'reminder', '--input', 'delayMs=1', '--watch', '--json');

    expect(result).toMatchObject({ code: 0, err: '' });
    const events = lines(result.out);
    expect(events.map((event) => event['sequence'])).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({ type: 'run.completed' });
  });

  it('is left alone by Ctrl-C, which says how to cancel it', async () => {
    const recorded = io();
    const watching = main(
      ['run', 'reminder', '--input', 'delayMs=60000', '--watch', '--tag', 'detached'],
      recorded,
    );
    await Promise.race([recorded.waitFor('node.started'), watching]);
    expect(recorded.err()).toBe('');

    recorded.signal('SIGINT');
    const code = await watching;

    const runId = /run (\S+) continues/.exec(recorded.err())?.[1] ?? '';
    expect(code).toBe(4);
    expect(recorded.err()).toContain(`weft runs cancel ${runId}`);
    expect(await createClient({ baseUrl: server.url, apiKey: key }).runs.get(runId)).toMatchObject({
      status: 'running',
    });
    expect((await weft('runs', 'why', runId)).out).toMatch(/wait/i);
    expect(await weft('runs', 'pause', runId, '--now')).toMatchObject({ code: 0, out: `${runId}  paused\n` });
    expect(await weft('runs', 'pause', runId, '--json')).toMatchObject({ code: 4 });
    expect(await weft('runs', 'resume', runId)).toMatchObject({ code: 0, out: `${runId}  running\n` });
    expect((await weft('runs', 'show', runId)).out).toMatch(/status +running/);
    expect((await weft('runs', 'cancel', runId)).code).toBe(0);
    expect((await weft('runs', 'cancel', runId)).code).toBe(0);
  });

  it('that is repeated under the same idempotency key is the same run', async () => {
    const first = await weft('run', 'reminder', '--input', 'delayMs=1', '--idempotency-key', 'once');
    const second = await weft('run', 'reminder', '--input', 'delayMs=1', '--idempotency-key', 'once');

    expect(second.out).toBe(first.out);
  });

  it('shows its events afterwards, filtered by mode', async () => {
    const { out } = await weft('run', 'reminder', '--input', 'delayMs=1', '--watch', '--json');
    const runId = String(lines(out)[0]?.['runId']);

    const all = lines((await weft('runs', 'events', runId, '--json')).out);
    const updates = lines((await weft('runs', 'events', runId, '--json', '--mode', 'updates')).out);
    const followed = lines(
      (await weft('runs', 'events', runId, '--json', '--follow', '--mode', 'updates')).out,
    );

    expect(all).toEqual(lines(out));
    expect(updates.some((event) => event['type'] === 'node.started')).toBe(false);
    expect(followed).toEqual(updates);
  });

  it('shows its snapshots, one document in each line, with and without --json', async () => {
    const { out } = await weft('run', 'reminder', '--input', 'delayMs=1', '--watch', '--json');
    const runId = String(lines(out)[0]?.['runId']);

    const text = await weft('runs', 'events', runId, '--follow', '--mode', 'values');
    const json = await weft('runs', 'events', runId, '--follow', '--mode', 'values', '--json');

    expect(text).toEqual(json);
    expect(lines(text.out).at(-1)).toMatchObject({ runId, status: 'completed' });
  });

  it('of a workflow that does not exist is unusable input', async () => {
    const result = await weft('run', 'nothing', '--json');

    expect(result.code).toBe(3);
    expect(JSON.parse(result.err)).toMatchObject({ error: 'not_found' });
  });
});

describe('many runs', () => {
  it('are listed by filter and cancelled only when confirmed', async () => {
    for (let index = 0; index < 3; index += 1)
      await weft('run', 'reminder', '-i', 'delayMs=60000', '-t', 'bulk');

    const listed = lines((await weft('runs', 'ls', '--tag', 'bulk', '--since', '10m', '--json')).out);
    const dry = await weft('runs', 'cancel', '--tag', 'bulk', '--dry-run');
    const unconfirmed = await weft('runs', 'cancel', '--tag', 'bulk');
    const confirmed = await weft('runs', 'cancel', '--tag', 'bulk', '--yes', '--json');

    expect(listed).toHaveLength(3);
    expect(dry).toMatchObject({ code: 0, err: '3 runs would be cancelled. Nothing was changed.\n' });
    expect(unconfirmed).toMatchObject({ code: 4, err: expect.stringContaining('--yes') });
    expect(confirmed.code).toBe(0);
    expect(lines(confirmed.out)).toEqual(expect.arrayContaining([expect.objectContaining({ ok: true })]));
    expect((await weft('runs', 'ls', '--tag', 'bulk', '--status', 'running')).err).toBe('No runs found.\n');
  });
});

describe('a quarantined run', () => {
  it('is listed, explained, and released once', async () => {
    await weft('run', 'reminder', '-i', 'delayMs=600000', '-t', 'aside');
    const [run] = lines((await weft('runs', 'ls', '--tag', 'aside', '--json')).out);
    const runId = String(run?.['runId']);
    await expect.poll(async () => (await store.readRun(runId, undefined))?.holder).toBeUndefined();
    const suspicion = { reason: 'A test.', since: 1, seq: 0, quarantinedAt: 1 };
    await store.commit([{ kind: 'suspicion', batchId: 'q'.repeat(22), runId, suspicion }]);

    const listed = lines((await weft('runs', 'ls', '--quarantined', '--json')).out);
    const why = await weft('runs', 'why', runId);
    const released = await weft('runs', 'release', runId);
    const again = await weft('runs', 'release', runId, '--json');

    expect(listed).toMatchObject([{ runId, quarantined: { reason: 'A test.' } }]);
    expect(why.out).toContain('quarantined since 1970-01-01T00:00:00.001Z: A test.');
    expect(why.out).toContain(`weft runs release ${runId}`);
    expect(released).toMatchObject({ code: 0, out: `${runId}  released\n` });
    expect(JSON.parse(again.err)).toMatchObject({ error: 'conflict' });
    expect((await weft('runs', 'ls', '--quarantined')).err).toBe('No runs found.\n');
  });
});

describe('keys', () => {
  it('are shown once, listed without secret, and end when revoked', async () => {
    const created = await weft('keys', 'create', 'ci', '--scope', 'runs:read', '--expires', '1h', '--json');
    const { key: secret, keyId } = JSON.parse(created.out) as { key: string; keyId: string };

    const listed = await weft('keys', 'ls');
    const revoked = await weft('keys', 'revoke', keyId);

    expect(secret).toMatch(/^weft_live_/);
    expect(listed.out).toContain(keyId);
    expect(listed.out).not.toContain(secret);
    expect(revoked).toMatchObject({ code: 0, out: `${keyId}  revoked\n` });
    const rejected = recordedIo({ cwd: folder, env: { WEFT_URL: server.url, WEFT_API_KEY: secret } });
    expect(await main(['runs', 'ls'], rejected)).toBe(3);
    expect(rejected.err()).toContain('WEFT_API_KEY');
  });
});

describe('keys create', () => {
  it('lists every scope with its meaning in its help, and names one that is unknown', async () => {
    const help = await weft('keys', 'create', '--help');
    const typo = await weft('keys', 'create', 'ci', '--scope', 'runs:read,runs:raed');

    for (const scope of ALL_SCOPES) expect(help.out).toContain(`\n  ${scope} `);
    expect(typo).toMatchObject({ code: 3, err: expect.stringContaining('Unknown scope "runs:raed"') });
  });

  it('makes keys of another tenant, which are listed and revoked there', async () => {
    const created = await weft('keys', 'create', 'ops', '--tenant', 'acme', '--scope', 'runs:read', '--json');
    const { keyId } = JSON.parse(created.out) as { keyId: string };

    const [mine, theirs] = [await weft('keys', 'ls'), await weft('keys', 'ls', '--tenant', 'acme')];
    const revoked = await weft('keys', 'revoke', keyId, '--tenant', 'acme');

    expect(mine.out).not.toContain(keyId);
    expect(theirs.out).toContain(keyId);
    expect(revoked.code).toBe(0);
  });
});

describe('keys rotate links', () => {
  it('names the new key and the one before it', async () => {
    const first = await weft('keys', 'rotate', 'links', '--json');
    const { keyId } = JSON.parse(first.out) as { keyId: string };

    const second = await weft('keys', 'rotate', 'links', '--json');

    expect([first.code, second.code]).toEqual([0, 0]);
    expect(JSON.parse(second.out)).toMatchObject({ previousKeyId: keyId });
  });
});

describe('a host that is not there', () => {
  it('is reported with the way to start one', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;

    const text = await weft('runs', 'ls', '--url', url);
    const json = await weft('runs', 'ls', '--url', url, '--json');

    expect(text).toMatchObject({ code: 3, out: '' });
    expect(text.err).toContain(`No host answers at ${url} (from --url). Start one with: ${PROGRAM} serve\n`);
    expect(JSON.parse(json.err)).toMatchObject({ error: 'host_unreachable' });
  });
});
