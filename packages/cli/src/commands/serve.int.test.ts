import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Io } from '../io.ts';
import { main } from '../main.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { type Served, serveHere, weft } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

let folder: string;
let hosts: Served[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-serve-'));
  hosts = [];
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function serve(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Served> {
  const host = await serveHere(folder, flags, env);
  hosts.push(host);
  return host;
}

/** Gets SIGTERM as soon as it handles signals. */
function impatient(io: Io): Io {
  return {
    ...io,
    onSignal(listener) {
      queueMicrotask(() => listener('SIGTERM'));
      return io.onSignal(listener);
    },
  };
}

describe('serve', () => {
  it('says where it is, leaves key and URL for the local command line, and takes the URL away when it ends', async () => {
    const host = await serve(['--workflows', EXAMPLES]);

    const listed = await weft(folder, ['workflows', 'ls', '--json']);
    const before = Date.now();
    const code = await host.stop();
    const took = Date.now() - before;

    expect(host.io.out()).toMatch(/workflows +\d+ loaded/);
    expect(host.io.out()).toContain(join(folder, '.weft', 'key'));
    expect(host.io.out()).toContain('weft run order-fulfilment --watch');
    expect((await stat(join(folder, '.weft', 'key'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, '.weft'))).mode & 0o777).toBe(0o700);
    expect(listed.code).toBe(0);
    expect(listed.out.trim().split('\n')).toHaveLength((await readdir(EXAMPLES)).length);
    expect(code).toBe(0);
    expect(took).toBeLessThan(4_000);
    await expect(stat(join(folder, '.weft', 'url'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that gets a signal while it starts stops in order', async () => {
    const io = recordedIo({ cwd: folder });

    const code = await main(['serve', '--port', '0'], impatient(io));

    expect(code).toBe(0);
    expect(io.err()).toContain('SIGTERM');
    expect(io.out()).toBe('');
    expect(io.exits).toEqual([]);
    await expect(stat(join(folder, '.weft', 'url'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that gets a signal while it starts ends with 0 also where it could not have started', async () => {
    await serve();
    const io = recordedIo({ cwd: folder });

    expect(await main(['serve', '--port', '0'], impatient(io))).toBe(0);

    expect(io.err()).toMatch(/SIGTERM: stopping …\nnot started: .*\.weft/);
  });

  it('that gets a signal while it waits for a store that says nothing ends with 0', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const io = recordedIo({ cwd: folder });

    // A process would end here; this one keeps asking for a while.
    main(['serve', '--port', '0', '--store', `postgres://weft@127.0.0.1:${port}/weft`], impatient(io)).catch(
      () => undefined,
    );
    await vi.waitFor(() => expect(io.exits).toEqual([0]), { timeout: 10_000 });
    for (const socket of sockets) socket.destroy();
    silent.close();

    expect(io.err()).toContain('not started: its store did not answer in time');
  });

  it('uses the key from WEFT_API_KEY and writes none', async () => {
    await serve([], { WEFT_API_KEY: 'weft_live_from_env_0123456789' });

    const mine = await weft(folder, ['runs', 'ls'], { WEFT_API_KEY: 'weft_live_from_env_0123456789' });
    const none = await weft(folder, ['runs', 'ls']);

    expect(mine.code).toBe(0);
    expect(none.code).toBe(3);
    await expect(stat(join(folder, '.weft', 'key'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a WEFT_API_KEY that is too short, or cannot be sent, without repeating it', async () => {
    const weak = await weft(folder, ['serve', '--port', '0'], { WEFT_API_KEY: 'hunter2hunter2hunter2xx' });
    const spaced = await weft(folder, ['serve', '--port', '0'], {
      WEFT_API_KEY: 'correct horse battery staple',
    });

    expect(weak).toMatchObject({
      code: 2,
      err: expect.stringContaining('WEFT_API_KEY has 23 characters; it must have 24 to 512'),
    });
    expect(spaced).toMatchObject({ code: 2, err: expect.stringContaining('all visible ASCII') });
    expect(weak.err + spaced.err).not.toMatch(/hunter|horse/);
    await expect(stat(join(folder, '.weft'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a key file whose key is too short, without repeating it', async () => {
    await mkdir(join(folder, '.weft'));
    await writeFile(join(folder, '.weft', 'key'), 'hunter2\n', { mode: 0o600 });

    const refused = await weft(folder, ['serve', '--port', '0']);

    expect(refused).toMatchObject({
      code: 4,
      err: expect.stringContaining('a key of 24 to 512 visible ASCII'),
    });
    expect(refused.err).not.toContain('hunter2');
  });

  it('with another WEFT_API_KEY than before revokes the former, which does not come back', async () => {
    const [former, latter] = ['weft_live_former_0123456789', 'weft_live_latter_0123456789'];
    await (await serve([], { WEFT_API_KEY: former })).stop();
    const host = await serve([], { WEFT_API_KEY: latter });

    const refused = await weft(folder, ['runs', 'ls'], { WEFT_API_KEY: former });
    const accepted = await weft(folder, ['runs', 'ls'], { WEFT_API_KEY: latter });
    await host.stop();
    const back = await weft(folder, ['serve', '--port', '0'], { WEFT_API_KEY: former });

    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('revoked') });
    expect(accepted.code).toBe(0);
    expect(back).toMatchObject({ code: 4, err: expect.stringContaining('was revoked, or replaced') });
  });

  it('makes a new key for itself when that was revoked or replaced', async () => {
    const host = await serve();
    const [first] = (await weft(folder, ['keys', 'ls', '--json'])).out.split('\n');
    await weft(folder, ['keys', 'revoke', (JSON.parse(String(first)) as { keyId: string }).keyId]);
    const before = await readFile(join(folder, '.weft', 'key'), 'utf8');
    await host.stop();

    await serve();

    expect(await readFile(join(folder, '.weft', 'key'), 'utf8')).not.toBe(before);
    expect((await weft(folder, ['runs', 'ls'])).code).toBe(0);
  });

  it('refuses an address others can reach without a chosen key', async () => {
    const result = await weft(folder, ['serve', '--host', '0.0.0.0', '--port', '0']);

    expect(result).toMatchObject({ code: 4, err: expect.stringContaining('WEFT_API_KEY') });
  });

  it('refuses a folder that another host holds, and names the holder', async () => {
    await serve();

    const second = await weft(folder, ['serve', '--port', '0']);

    expect(second.code).toBe(3);
    expect(second.err).toContain(`process ${process.pid}`);
  });

  it('never lets a live folder become a test folder, or the other way round', async () => {
    const live = await serve();
    await live.stop();
    const test = await serve(['--data', 'test', '--conformance']);
    await test.stop();

    const first = await weft(folder, ['serve', '--port', '0', '--conformance']);
    const second = await weft(folder, ['serve', '--port', '0', '--data', 'test']);

    expect(first).toMatchObject({ code: 4, err: expect.stringContaining('is a live folder (permanent)') });
    expect(second).toMatchObject({ code: 4, err: expect.stringContaining('is a test folder (permanent)') });
    expect(await readFile(join(folder, 'test', 'key'), 'utf8')).toMatch(/^weft_test_/);
  });

  it('says so when the data folder is a file', async () => {
    await writeFile(join(folder, 'taken'), '');

    const result = await weft(folder, ['serve', '--port', '0', '--data', 'taken']);
    const below = await weft(folder, ['serve', '--port', '0', '--data', 'taken/inside']);

    expect(result).toMatchObject({ code: 3, err: expect.stringContaining('exists already') });
    expect(below).toMatchObject({ code: 3, err: expect.stringContaining('is not a folder') });
    expect(result.err + below.err).not.toMatch(/EEXIST|ENOTDIR/);
  });

  it('says so when the port is taken', async () => {
    const host = await serve();
    const { port } = new URL(host.url);

    const second = await weft(folder, ['serve', '--data', 'other', '--port', port]);

    expect(second).toMatchObject({ code: 3, err: expect.stringContaining('another program uses this port') });
  });

  it('reports files that are not workflows, or wait for a node type, and starts', async () => {
    const flows = join(folder, 'flows');
    await mkdir(flows);
    const sample = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    await writeFile(join(flows, 'a-broken.json'), '{"id": ');
    await writeFile(join(flows, 'b-other.json'), '{"compilerOptions": {}}');
    await writeFile(
      join(flows, 'c-foreign.json'),
      sample.replace('"core.delay"', '"acme.wait"').replace('"reminder"', '"foreign"'),
    );
    await writeFile(join(flows, 'd-good.json'), sample);

    const host = await serve(['--workflows', flows]);

    expect(host.io.out()).toMatch(/workflows +reminder@1\.0\.0\n/);
    expect(host.io.out()).toMatch(/! .*a-broken\.json:1:8/);
    expect(host.io.out()).toContain('! b-other.json: not a workflow definition');
    expect(host.io.out()).toContain('! c-foreign.json: waiting for type acme.wait');
  });

  it('reports files that are too large, no files, not UTF-8 or not JSON, skips them and starts', async () => {
    const flows = join(folder, 'flows');
    await mkdir(flows);
    const sample = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    const large = { ...(JSON.parse(sample) as object), description: 'x'.repeat(1_100_000) };
    await writeFile(join(flows, 'a-large.json'), JSON.stringify(large));
    await writeFile(join(flows, 'b-latin.json'), Buffer.from([0x7b, 0xff, 0x7d]));
    await symlink(join(flows, 'nowhere'), join(flows, 'c-dangling.json'));
    await symlink(folder, join(flows, 'd-folder.json'));
    const socket = createServer();
    await new Promise<void>((resolve) => socket.listen(join(flows, 'e-socket.json'), resolve));
    await writeFile(join(flows, 'f-good.json'), sample);

    const host = await serve(['--workflows', flows]);
    socket.close();

    expect(host.io.out()).toMatch(/workflows +reminder@1\.0\.0\n/);
    expect(host.io.out()).toMatch(/! a-large\.json: The definition has \d+ bytes; the limit is 1048576/);
    expect(host.io.out()).toMatch(/! .*b-latin\.json.*:/);
    expect(host.io.out()).toMatch(/! .*c-dangling\.json cannot be read: there is no such file/);
    expect(host.io.out()).toMatch(/! .*d-folder\.json cannot be read: it is a folder/);
    expect(host.io.out()).toMatch(/! .*e-socket\.json cannot be read: it is not a regular file/);
  });

  it('keeps the registered version of a changed file, and with --dev registers the change in addition', async () => {
    const flows = join(folder, 'flows');
    await mkdir(flows);
    const sample = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    await writeFile(join(flows, 'reminder.json'), sample);
    await (await serve(['--workflows', 'flows'])).stop();
    await writeFile(join(flows, 'reminder.json'), sample.replace('"Ada"', '"Bob"'));

    const kept = await serve(['--workflows', 'flows']);
    await kept.stop();
    const dev = await serve(['--workflows', 'flows', '--dev']);

    expect(kept.io.out()).toContain(
      '! reminder.json: Version 1.0.0 of reminder is registered with other content.',
    );
    expect(dev.io.out()).toMatch(/workflows +reminder@1\.0\.0\+[0-9a-f]{8}\n/);
  });

  it('continues a waiting run after a restart', async () => {
    const first = await serve(['--workflows', EXAMPLES]);
    const { out } = await weft(folder, ['run', 'reminder', '--input', 'delayMs=700']);
    const runId = out.trim();
    await first.stop();

    await serve();
    const followed = await weft(folder, ['runs', 'events', runId, '--follow', '--json']);

    const events = followed.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; sequence: number });
    expect(events.at(-1)?.type).toBe('run.completed');
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index));
  });

  it('ends at once on the second signal', async () => {
    const host = await serve();

    host.io.signal('SIGINT');
    host.io.signal('SIGINT');
    await host.ended;

    expect(host.io.exits).toEqual([1]);
  });

  it('takes settings from the config file, as the doctor does', async () => {
    const config = {
      workflows: [EXAMPLES],
      data: 'elsewhere',
      'max-loop-iterations': 3,
      store: 'mysql://db',
    };
    await writeFile(join(folder, 'wrong.json'), JSON.stringify(config));
    await writeFile(join(folder, 'weft.json'), JSON.stringify({ ...config, store: undefined }));

    const host = await serve(['--config', 'weft.json']);
    const wrong = await weft(folder, ['doctor', '--config', 'wrong.json']);

    expect(host.io.out()).toContain(join(folder, 'elsewhere'));
    expect(wrong).toMatchObject({
      code: 3,
      err: expect.stringContaining('"store" in wrong.json takes a URL'),
    });
  });

  it('takes a limit from a flag and names it when it is reached', async () => {
    await serve(['--workflows', EXAMPLES, '--max-node-executions', '3']);

    const result = await weft(folder, ['run', 'batch-totals', '--watch']);

    expect(result.code).toBe(1);
    expect(result.out).toContain('recursion_limit_exceeded');
  });
});

describe('doctor', () => {
  it('finds a served folder in order, and says what is wrong without one', async () => {
    const nothing = await weft(folder, ['doctor', '--url', 'http://127.0.0.1:9']);
    await serve();
    const served = await weft(folder, ['doctor', '--json']);

    expect(nothing.code).toBe(1);
    expect(nothing.out).toContain('wrong    data folder');
    expect(
      served.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { state: string }).state),
    ).toEqual(Array(8).fill('ok'));
    expect(served.code).toBe(0);
  });

  it('reads the whole database, with and without a running host', async () => {
    const host = await serve(['--workflows', EXAMPLES]);
    await weft(folder, ['run', 'batch-totals', '--watch']);
    const running = await weft(folder, ['doctor', '--deep']);
    await host.stop();

    const alone = await weft(folder, ['doctor', '--deep']);

    expect(running).toMatchObject({ code: 0, out: expect.stringContaining('every log is in order') });
    expect(alone).toMatchObject({ code: 0, out: expect.stringContaining('warning  host:') });
  });

  it('names the run and the event in which one byte was changed, and the host serves no such event', async () => {
    const host = await serve(['--workflows', EXAMPLES]);
    await weft(folder, ['run', 'batch-totals', '--watch']);
    const [run] = (await weft(folder, ['runs', 'ls', '--json'])).out.split('\n');
    const { runId } = JSON.parse(run ?? '') as { runId: string };
    await host.stop();
    const database = join(folder, '.weft', 'weft.db');
    const bytes = await readFile(database);
    const at = bytes.indexOf('{"workflowId":"batch-totals"');
    expect(at).toBeGreaterThan(0);
    bytes.writeUInt8((bytes[at + 20] ?? 0) ^ 1, at + 20);
    await writeFile(database, bytes);

    const deep = await weft(folder, ['doctor', '--deep']);
    await serve();
    const events = await weft(folder, ['runs', 'events', runId, '--json']);

    expect(deep).toMatchObject({
      code: 1,
      out: expect.stringContaining(`${runId}: Event 0 is not what was written.`),
    });
    expect(JSON.parse(events.err)).toMatchObject({
      error: 'run_damaged',
      details: { runId, sequence: 0 },
    });
  });

  it('finds a database that is none', async () => {
    await (await serve()).stop();
    await writeFile(join(folder, '.weft', 'weft.db'), 'something else altogether');

    const result = await weft(folder, ['doctor', '--deep']);

    expect(result.code).toBe(1);
    expect(result.out).toContain('is not an SQLite database');
  });
});
