import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../connecting/connection.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { type Served, serveHere, weft } from '../testing/served.ts';

/** The whole way on SQLite: runs that go, values that are erased, and a copy of a host at work that starts as another one. */

let cwd: string;
let served: Served;
let client: Client;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-retention-'));
  await mkdir(join(cwd, 'workflows'));
  for (const [id, typeId] of [
    ['noop', 'core.noop'],
    ['gate', 'core.approvalGate'],
  ] as const)
    await writeFile(join(cwd, 'workflows', `${id}.json`), JSON.stringify(workflow(id, typeId)));
  served = await serveHere(cwd, ['--workflows', 'workflows']);
  client = await clientOf(served, undefined);
});
afterAll(async () => {
  await served.stop();
  await rm(cwd, { recursive: true, force: true });
});

function workflow(id: string, typeId: string): object {
  return { id, version: '1.0', nodes: [{ id: 'only', typeId }] };
}

async function clientOf(host: Served, data: string | undefined): Promise<Client> {
  return (await connect(recordedIo({ cwd, env: {} }), { url: host.url, data })).client;
}

async function endedRun(tags: string[] = [], inputs = {}): Promise<string> {
  const { runId } = await client.runs.create({ workflowId: 'noop', tags, inputs });
  await vi.waitUntil(async () => (await client.runs.get(runId)).status === 'completed', { timeout: 20_000 });
  return runId;
}

describe('weft runs rm', () => {
  it('removes what has ended and names what has not', async () => {
    const [ended, open] = [await endedRun(), (await client.runs.create({ workflowId: 'gate' })).runId];

    const done = await weft(cwd, ['runs', 'rm', ended, open]);
    const again = await weft(cwd, ['runs', 'rm', ended, '--json']);

    expect([done.code, again.code]).toEqual([4, 1]);
    expect(done.out).toContain(`${ended}  removed`);
    expect(done.out).toMatch(new RegExp(`${open}  not removed: .*waiting-approval`));
    expect(JSON.parse(again.out)).toMatchObject({ removed: false, error: { code: 'run_expired' } });
    expect((await weft(cwd, ['runs', 'show', ended])).code).toBe(3);
    await client.runs.cancel(open);
  });
});

describe('weft runs prune', () => {
  it('shows, asks and removes', async () => {
    const runId = await endedRun(['old']);
    const flags = ['runs', 'prune', '--older-than', '0s', '--tag', 'old'];
    await vi.waitUntil(async () => (await weft(cwd, [...flags, '--dry-run'])).out.includes(runId), {
      timeout: 20_000,
    });

    const young = await weft(cwd, ['runs', 'prune', '--older-than', '1h', '--tag', 'old', '--yes']);
    const dry = await weft(cwd, [...flags, '--dry-run']);
    const unasked = await weft(cwd, flags);
    const done = await weft(cwd, [...flags, '--yes', '--json']);

    expect([young.code, dry.code, unasked.code, done.code]).toEqual([0, 0, 4, 0]);
    expect(dry.err).toContain('1 run would be removed');
    expect(unasked.err).toContain('--yes');
    expect(JSON.parse(done.out)).toEqual({ runId, removed: true });
  });

  it('says what it needs', async () => {
    const noTime = await weft(cwd, ['runs', 'prune']);
    const open = await weft(cwd, ['runs', 'prune', '--older-than', '1d', '--status', 'running']);

    expect([noTime.code, open.code]).toEqual([2, 2]);
    expect(noTime.err).toContain('--older-than');
    expect(open.err).toContain('only runs that have ended');
  });
});

describe('weft runs erase', () => {
  it('leaves the log and takes the inputs out of the file', async () => {
    const runId = await endedRun([], { name: 'canary-5b1f' });
    const before = await weft(cwd, ['runs', 'events', runId, '--json']);

    const done = await weft(cwd, ['runs', 'erase', runId]);

    expect(done).toMatchObject({ code: 0, out: `${runId}  erased\n` });
    expect((await weft(cwd, ['runs', 'events', runId, '--json'])).out).toBe(before.out);
    expect((await weft(cwd, ['backup', 'erased.db'])).code).toBe(0);
    expect((await readFile(join(cwd, 'erased.db'))).includes('canary-5b1f')).toBe(false);
  });

  it('leaves nothing in any file of a host at work within seconds, and shows nothing at once', async () => {
    const canary = 'canary-9c2e';
    const runId = await endedRun([], { name: canary });
    const shown = async (): Promise<string> => (await weft(cwd, ['runs', 'show', runId, '--json'])).out;
    const filesWithIt = async (): Promise<string[]> => {
      const folder = join(cwd, '.weft');
      const found: string[] = [];
      for (const name of await readdir(folder))
        if ((await readFile(join(folder, name))).includes(canary)) found.push(name);
      return found;
    };
    expect(await shown()).toContain(canary);
    expect(await filesWithIt()).not.toEqual([]);

    await weft(cwd, ['runs', 'erase', runId]);

    expect(await shown()).not.toContain(canary);
    await vi.waitFor(async () => expect(await filesWithIt()).toEqual([]), { timeout: 10_000, interval: 50 });
  });
});

describe('weft retention', () => {
  it('is shown, set and taken back', async () => {
    const unset = await weft(cwd, ['retention', 'show']);
    const set = await weft(cwd, ['retention', 'set', '30d']);
    const json = await weft(cwd, ['retention', 'show', '--json']);
    const reset = await weft(cwd, ['retention', 'set', 'default']);
    const wrong = await weft(cwd, ['retention', 'set', '30']);

    expect(unset.out).toBe('Runs of default are kept forever, the default of the host.\n');
    expect(set.out).toBe('Runs of default are kept 30 d after their end.\n');
    expect(JSON.parse(json.out)).toEqual({ tenant: 'default', keepForSeconds: 2_592_000, isDefault: false });
    expect(reset.out).toBe(unset.out);
    expect(wrong.code).toBe(2);
  });
});

describe('weft backup and restore', () => {
  it('copies a host under load; another one starts on it with all that was acknowledged before', async () => {
    const acknowledged: string[] = [];
    let isLoaded = true;
    const load = Array.from({ length: 4 }, async () => {
      while (isLoaded) acknowledged.push((await client.runs.create({ workflowId: 'noop' })).runId);
    });
    await vi.waitUntil(() => acknowledged.length > 200, { timeout: 60_000 });
    const [gate, before] = [await client.runs.create({ workflowId: 'gate' }), [...acknowledged]];

    const saved = await weft(cwd, ['backup', 'copy.db']);
    const [after, mode] = [acknowledged.length, (await stat(join(cwd, 'copy.db'))).mode & 0o777];
    await vi.waitUntil(() => acknowledged.length > after + 50, { timeout: 60_000 });
    isLoaded = false;
    await Promise.all(load);
    const restored = await weft(cwd, ['restore', 'copy.db', '--data', 'second']);
    const deep = await weft(cwd, ['doctor', '--deep', '--data', 'second']);

    expect([saved.code, restored.code, mode]).toEqual([0, 0, 0o600]);
    expect(deep.out).toContain('every page and every log is in order');
    expect(await readdir(join(cwd, '.weft'))).not.toContainEqual(expect.stringContaining('backup-'));
    expect(await readdir(join(cwd, 'second'))).toEqual(['weft.db']);
    const second = await serveHere(cwd, ['--data', 'second']);
    try {
      const there = await clientOf(second, 'second');
      for (const runId of before)
        await vi.waitUntil(async () => (await there.runs.get(runId)).status === 'completed', {
          timeout: 20_000,
        });
      await there.runs.resolve(gate.runId, 'only', { action: 'accept' });
      await vi.waitUntil(async () => (await there.runs.get(gate.runId)).status === 'completed', {
        timeout: 20_000,
      });
      expect((await client.runs.get(gate.runId)).status).toBe('waiting-approval');
    } finally {
      await second.stop();
    }
  }, 120_000);

  it('writes over nothing', async () => {
    await writeFile(join(cwd, 'mine.txt'), 'mine');
    await mkdir(join(cwd, 'full'));
    await writeFile(join(cwd, 'full', 'mine.txt'), 'mine');
    await weft(cwd, ['backup', 'whole.db']);

    const saved = await weft(cwd, ['backup', 'mine.txt']);
    const restored = await weft(cwd, ['restore', 'whole.db', '--data', 'full']);

    expect([saved.code, restored.code]).toEqual([4, 4]);
    expect(await readFile(join(cwd, 'mine.txt'), 'utf8')).toBe('mine');
    expect(await readdir(join(cwd, 'full'))).toEqual(['mine.txt']);
    expect((await readdir(cwd)).filter((name) => name.includes('.part-'))).toEqual([]);
  });

  it('restores only what is whole, and leaves nothing of what is not', async () => {
    await weft(cwd, ['backup', 'cut.db']);
    await truncate(join(cwd, 'cut.db'), (await stat(join(cwd, 'cut.db'))).size - 8_192);
    await writeFile(join(cwd, 'other.db'), 'not a database, but long enough to be taken for one'.repeat(20));
    await writeFile(join(cwd, 'empty.db'), '');

    for (const file of ['cut.db', 'other.db', 'empty.db', 'nowhere.db']) {
      const { code, err } = await weft(cwd, ['restore', file, '--data', `from-${file}`]);
      expect([file, code]).toEqual([file, 3]);
      expect(err).toContain(file);
      expect(await readdir(join(cwd, `from-${file}`))).toEqual([]);
    }
    expect((await weft(cwd, ['restore', 'cut.db'])).code).toBe(2);
  });
});
