import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Served, serveHere, weft } from '../../testing/served.ts';

/** The whole way: a host on SQLite, the clock, a sender of webhooks, and the command line. */

let cwd: string;
let served: Served;

const NOOP = {
  id: 'noop',
  name: 'noop',
  version: '1.0',
  nodes: [
    { id: 'only', typeId: 'core.noop', name: 'only', position: { x: 0, y: 0 }, config: {}, inputs: {} },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [{ name: 'city', type: 'string' }],
  metadata: { tags: [] },
  settings: { timeout: 60_000 },
};

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-schedules-'));
  await mkdir(join(cwd, 'workflows'));
  await writeFile(join(cwd, 'workflows', 'noop.json'), JSON.stringify(NOOP));
  served = await serveHere(cwd, ['--workflows', 'workflows']);
});
afterAll(async () => {
  await served.stop();
  await rm(cwd, { recursive: true, force: true });
});

const lines = (out: string) =>
  out
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('weft schedules', () => {
  it('starts runs every second, shows them, and stops when it is paused and removed', async () => {
    const made = await weft(cwd, [
      'schedules',
      'create',
      'tick',
      '--workflow',
      'noop',
      '--every',
      '1s',
      '--input',
      'city=Rome',
    ]);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain('every 1.0 s');

    await vi.waitFor(
      async () => {
        const runs = await weft(cwd, ['runs', 'ls', '--source', 'schedule:tick', '--json']);
        expect(lines(runs.out).length).toBeGreaterThanOrEqual(2);
      },
      { timeout: 20_000, interval: 200 },
    );

    expect((await weft(cwd, ['schedules', 'pause', 'tick'])).out).toBe('tick  paused\n');
    const shown = await weft(cwd, ['schedules', 'show', 'tick']);
    expect(shown.out).toContain('started');
    expect(shown.out).toContain('NEXT DUE');
    expect((await weft(cwd, ['schedules', 'ls'])).out).toContain('tick');
    const started = await weft(cwd, ['schedules', 'trigger', 'tick']);
    const run = await weft(cwd, ['runs', 'show', started.out.trim(), '--json']);
    expect(JSON.parse(run.out)).toMatchObject({ weft: { source: { kind: 'schedule', id: 'tick' } } });
    expect((await weft(cwd, ['runs', 'show', started.out.trim()])).out).toMatch(/started by +schedule:tick/);
    expect((await weft(cwd, ['schedules', 'rm', 'tick'])).code).toBe(0);
    expect((await weft(cwd, ['schedules', 'show', 'tick'])).code).toBe(3);
  }, 60_000);

  it('fills the past', async () => {
    await weft(cwd, [
      'schedules',
      'create',
      'daily',
      '--workflow',
      'noop',
      '--cron',
      '0 9 * * *',
      '--tz',
      'Europe/Berlin',
    ]);

    const filled = await weft(cwd, ['schedules', 'backfill', 'daily', '--from', '3d', '--to', '0s']);

    expect(filled.out).toContain('3 due times');
    await vi.waitFor(
      async () => {
        const runs = await weft(cwd, ['runs', 'ls', '--source', 'schedule:daily', '--json']);
        expect(lines(runs.out)).toHaveLength(3);
      },
      { timeout: 20_000, interval: 200 },
    );
  }, 60_000);

  it.each([
    [['--every', '1s'], 'needs --workflow'],
    [['--workflow', 'noop'], 'needs --every TIME or --cron PATTERN'],
    [['--workflow', 'noop', '--every', 'soon'], '--every takes a time'],
    [['--workflow', 'noop', '--every', '1s', '--overlap', 'maybe'], '--overlap takes one of'],
  ])('says what is wrong with %j', async (flags, message) => {
    const refused = await weft(cwd, ['schedules', 'create', 'x', ...flags]);

    expect(refused.code).toBe(2);
    expect(refused.err).toContain(message);
  });

  it('passes on what the host refuses, by the field', async () => {
    const refused = await weft(cwd, [
      'schedules',
      'create',
      'x',
      '--workflow',
      'noop',
      '--cron',
      '0 0 30 2 *',
    ]);

    expect(refused.code).toBe(3);
    expect(refused.err).toContain('never due');
  });
});

describe('weft triggers', () => {
  it('makes one, tests it, takes a delivery, and replays what it could not start', async () => {
    const made = await weft(cwd, [
      'triggers',
      'create',
      '--workflow',
      'noop',
      '--scheme',
      'github',
      '--map',
      'city=body.city',
      '--json',
    ]);
    const { id, ingestUrl, secret } = JSON.parse(made.out) as {
      id: string;
      ingestUrl: string;
      secret: string;
    };
    await writeFile(join(cwd, 'sample.json'), '{"city":"Oslo"}');
    expect((await weft(cwd, ['triggers', 'test', id, 'sample.json', '--json'])).out).toBe(
      '{"city":"Oslo"}\n',
    );

    const deliver = (body: string, delivery: string) =>
      fetch(ingestUrl, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-github-delivery': delivery,
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
      });
    const accepted = await deliver('{"city":"Oslo"}', 'one');
    expect(accepted.status).toBe(202);
    expect((await deliver('{"city":"Oslo"}', 'one')).status).toBe(200);
    const { runId } = (await accepted.json()) as { runId: string };
    const runs = await weft(cwd, ['runs', 'ls', '--source', `trigger:${id}`, '--json']);
    expect(lines(runs.out)).toMatchObject([{ runId }]);

    const kept = await deliver('{"town":"Oslo"}', 'two');
    expect(kept.status).toBe(202);
    const dead = await weft(cwd, ['triggers', 'dead', id, '--json']);
    const [letter] = lines(dead.out);
    expect(letter).toMatchObject({ reason: 'mapping_failed', deliveryId: 'two' });
    const replayed = await weft(cwd, ['triggers', 'replay', id, String(letter?.['id'])]);
    expect(replayed.code).toBe(4);
    expect((await weft(cwd, ['triggers', 'show', id])).out).toContain('body.city');
    expect((await weft(cwd, ['triggers', 'pause', id])).out).toContain('paused');
    expect((await deliver('{}', 'three')).status).toBe(503);
    expect((await weft(cwd, ['triggers', 'rm', id])).code).toBe(0);
    expect((await deliver('{}', 'four')).status).toBe(401);
  }, 60_000);
});
