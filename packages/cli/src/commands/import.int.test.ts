import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Json, JsonObject } from '@weft/protocol';
import { createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Outcome, type Served, serveHere, weft } from '../testing/served.ts';

/** Steps that say something, one after another; nothing comes from outside. */
function sayings(id: string, texts: readonly string[]): JsonObject {
  const ids = texts.map((_, index) => `n${index}`);
  return {
    id,
    name: id,
    version: '1.0',
    nodes: texts.map((text, index) => ({
      id: `n${index}`,
      typeId: 'core.setVariable',
      name: `n${index}`,
      position: { x: 0, y: 0 },
      config: { name: 'said', value: text },
      inputs: {},
    })),
    edges: ids
      .slice(1)
      .map((target, index) => ({ id: `e${index}`, sourceNodeId: `n${index}`, targetNodeId: target })),
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [
      { name: 'said', type: 'string' },
      { name: 'who', type: 'string' },
    ],
    metadata: {},
    settings: {},
  };
}

const KEYS = ['weft_live_first-key-of-the-first-host', 'weft_live_another-key-of-the-second'] as const;
let folder: string;
let hosts: readonly [Served, Served];
let runs: { one: string; other: string; named: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-import-'));
  hosts = [
    await serveHere(folder, ['--data', join(folder, 'one')], { WEFT_API_KEY: KEYS[0] }),
    await serveHere(folder, ['--data', join(folder, 'two')], { WEFT_API_KEY: KEYS[1] }),
  ];
  runs = {
    one: await finished('one', ['a', 'b', 'c']),
    other: await finished('other', ['a', 'x', 'c', 'd']),
    named: await finished('named', ['a', 'b'], { who: 'Braunschweig' }),
  };
  for (const [name, runId] of Object.entries(runs)) await on(0, 'bundle', runId, '-o', `${name}.json`);
});

afterAll(async () => {
  for (const host of hosts) await host.stop();
  await rm(folder, { recursive: true, force: true });
});

const clientOf = (index: 0 | 1) => createClient({ baseUrl: hosts[index].url, apiKey: KEYS[index] });

function on(index: 0 | 1, ...argv: string[]): Promise<Outcome> {
  return weft(folder, argv, { WEFT_URL: hosts[index].url, WEFT_API_KEY: KEYS[index] });
}

const offline = (...argv: string[]): Promise<Outcome> =>
  weft(folder, argv, { WEFT_URL: 'http://127.0.0.1:1', WEFT_DATA: join(folder, 'nowhere') });

async function finished(id: string, texts: readonly string[], inputs: JsonObject = {}): Promise<string> {
  const client = clientOf(0);
  await client.workflows.register(sayings(id, texts));
  const { runId } = await client.runs.create({ workflowId: id, inputs });
  for await (const _event of client.runs.events(runId));
  return runId;
}

describe('weft import', () => {
  it('makes a bundle of one host a run of another, once', async () => {
    const first = await on(1, 'import', 'one.json', '--json');
    const again = await on(1, 'import', 'one.json');

    const answer = JSON.parse(first.out) as { runId: string };
    expect(first.code).toBe(0);
    expect(answer).toMatchObject({
      created: true,
      verified: true,
      sourceRunId: runs.one,
      status: 'completed',
    });
    expect(again.out).toMatch(
      new RegExp(`^${answer.runId}  completed, \\d+ events, digest checked, imported before\n$`),
    );
    expect((await on(1, 'runs', 'show', answer.runId)).out).toContain('digest checked');
    expect((await on(1, 'runs', 'ls')).out).toContain('imported');
    expect(await clientOf(1).runs.get(answer.runId)).toMatchObject({
      weft: { imported: { runId: runs.one } },
    });
  });

  it('takes a gzipped file', async () => {
    await writeFile(join(folder, 'packed.gz'), gzipSync(await readFile(join(folder, 'one.json'))));

    const { code, out } = await on(1, 'import', 'packed.gz');

    expect(code).toBe(0);
    expect(out).toContain('completed');
  });

  it('lets the failure be reproduced: fork, with what was masked given by name', async () => {
    const { runId } = JSON.parse((await on(1, 'import', 'named.json', '--json')).out) as { runId: string };

    const refused = await on(1, 'fork', runId, '--from', '1');
    const forked = await on(1, 'fork', runId, '--from', '1', '--input', 'who=me', '--watch');

    expect(refused.code).toBe(3);
    expect(refused.err).toContain('who');
    expect(forked.code).toBe(0);
  });

  it.each<[string, (bundle: Record<string, Json>) => string, RegExp]>([
    ['was changed', (bundle) => JSON.stringify({ ...bundle, spans: [{}] }), /digest/],
    ['is not JSON', () => '{', /JSON|ends/i],
    ['is something else', () => '[]', /not a debug bundle/],
  ])('refuses a file that %s, and says why', async (_, change, reason) => {
    const bundle = JSON.parse(await readFile(join(folder, 'one.json'), 'utf8')) as Record<string, Json>;
    await writeFile(join(folder, 'bad.json'), change(bundle));

    const { code, out, err } = await on(1, 'import', 'bad.json');

    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(reason);
  });

  it('says when there is no such file', async () => {
    const { code, err } = await on(1, 'import', 'nothing.json');

    expect(code).toBe(3);
    expect(err).toContain('nothing.json cannot be read');
  });
});

describe('weft diff of bundles', () => {
  it('gives the bytes of the endpoint for the same logs, without any host', async () => {
    const live = await on(0, 'diff', runs.one, runs.other, '--json');

    const carried = await offline('diff', './one.json', 'other.json', '--json');

    expect(carried.err).toBe('');
    expect(carried.code).toBe(0);
    expect(carried.out).toBe(live.out);
    expect(carried.out).toContain('"op":"added"');
  });

  it('compares a bundle with a run, and with one of another host', async () => {
    const same = await on(0, 'diff', 'one.json', runs.one, '--exit-code');
    const url = `${hosts[0].url}/v1/runs/${runs.other}`;
    const different = await weft(folder, ['diff', 'one.json', url, '--exit-code'], {
      WEFT_API_KEY_B: KEYS[0],
    });

    expect(same).toMatchObject({ code: 0 });
    expect(same.out).toContain('No difference.');
    expect(different.code).toBe(1);
    expect(different.out).toContain('"b" → "x"');
  });

  it('warns where masks may hide a difference', async () => {
    const { err } = await offline('diff', 'named.json', 'one.json');

    expect(err).toContain('compared as bundles');
  });

  it('compares bundles that other hosts have written in the older way', async () => {
    const bundle = JSON.parse(await readFile(join(folder, 'one.json'), 'utf8')) as JsonObject;
    const { weft: _weft, ...foreign } = bundle;
    const events = (foreign['events'] as JsonObject[]).map(({ sequence, payload: _payload, ...event }) => ({
      ...event,
      seq: sequence ?? 0,
    }));
    await writeFile(join(folder, 'dated.json'), JSON.stringify({ ...foreign, bundleVersion: '1', events }));

    const { code, out } = await offline('diff', 'dated.json', 'one.json', '--json', '--exit-code');

    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ divergedAtSeq: null, eventDiffs: [] });
  });
});
