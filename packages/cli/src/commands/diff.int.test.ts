import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenSide, compareHere } from '../output/diff/compare.ts';
import { type Outcome, type Served, serveHere, weft } from '../testing/served.ts';

/** Says hello to `who`, as many nodes as its id says. */
function greeting(id: string, nodes: number): JsonObject {
  const ids = Array.from({ length: nodes }, (_, index) => `n${index}`);
  return {
    id,
    name: id,
    version: '1.0',
    nodes: ids.map((nodeId) => ({
      id: nodeId,
      typeId: 'core.setVariable',
      name: nodeId,
      position: { x: 0, y: 0 },
      config: { name: `said-${nodeId}`, expression: `"hello " + variables.who` },
      inputs: {},
    })),
    edges: ids.slice(1).map((target, index) => ({
      id: `e${index}`,
      sourceNodeId: ids[index] ?? '',
      targetNodeId: target,
    })),
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [{ name: 'who', type: 'string', defaultValue: 'world' }],
    metadata: { tags: [] },
    settings: { timeout: 60_000 },
  };
}

let folder: string;
let hosts: readonly [Served, Served];
const KEYS = ['weft_live_first-key-of-the-first-host', 'weft_live_another-key-of-the-second'] as const;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-diff-'));
  hosts = [
    await serveHere(folder, ['--data', join(folder, 'one')], { WEFT_API_KEY: KEYS[0] }),
    await serveHere(folder, ['--data', join(folder, 'two')], { WEFT_API_KEY: KEYS[1] }),
  ];
  for (const index of [0, 1] as const) {
    for (const [id, nodes] of [
      ['short', 2],
      ['long', 40],
    ] as const) {
      await writeFile(join(folder, `${id}.json`), JSON.stringify(greeting(id, nodes)));
      const registered = await on(index, 'workflows', 'register', `${id}.json`);
      if (registered.code !== 0) throw new Error(registered.err);
    }
  }
});

afterAll(async () => {
  for (const host of hosts) await host.stop();
  await rm(folder, { recursive: true, force: true });
});

function on(index: 0 | 1, ...argv: string[]): Promise<Outcome> {
  return weft(folder, argv, { WEFT_URL: hosts[index].url, WEFT_API_KEY: KEYS[index] });
}

async function finished(index: 0 | 1, workflow: string, who: string): Promise<string> {
  const client = createClient({ baseUrl: hosts[index].url, apiKey: KEYS[index] });
  const { runId } = await client.runs.create({ workflowId: workflow, inputs: { who } });
  await expect.poll(async () => (await client.runs.get(runId)).status).toBe('completed');
  return runId;
}

const urlOf = (index: 0 | 1, runId: string): string => `${hosts[index].url}/v1/runs/${runId}`;

async function answerOf(a: string, b: string): Promise<string> {
  const response = await fetch(`${urlOf(0, a)}:diff?against=${b}`, {
    headers: { authorization: `Bearer ${KEYS[0]}` },
  });
  return response.text();
}

describe('weft diff', () => {
  it('of equal runs finds nothing, and of different ones says where they part', async () => {
    const [a, same, other] = [
      await finished(0, 'short', 'you'),
      await finished(0, 'short', 'you'),
      await finished(0, 'short', 'me'),
    ];

    const equal = await on(0, 'diff', a, same, '--exit-code');
    const different = await on(0, 'diff', a, other, '--exit-code');
    const tolerated = await on(0, 'diff', a, other);

    expect(equal).toMatchObject({ code: 0, err: '' });
    expect(equal.out).toContain('No difference.');
    expect([different.code, tolerated.code]).toEqual([1, 0]);
    expect(different.out).toMatch(/First difference at #\d+; \d+ events? differ/);
    expect(different.out).toContain('"hello you" → "hello me"');
    expect(different.out).toContain('node n0');
    expect(different.out).toContain('variables.who  "you" → "me"');
  });

  it('prints with --json the very bytes of the endpoint, whichever way it compares', async () => {
    const [a, b] = [await finished(0, 'short', 'you'), await finished(0, 'long', 'me')];
    const client = createClient({ baseUrl: hosts[0].url, apiKey: KEYS[0] });
    const side = async (runId: string): Promise<OpenSide> => ({
      label: runId,
      run: await client.runs.get(runId),
      client,
      host: hosts[0].url,
      key: KEYS[0],
    });
    let here = '';

    const printed = await on(0, 'diff', a, b, '--json');
    for await (const piece of await compareHere(await side(a), await side(b))) here += piece;

    const answer = await answerOf(a, b);
    expect(answer).toContain('"op":"added"');
    expect(printed).toMatchObject({ code: 0, out: answer, err: '' });
    expect(here).toBe(answer);
  });

  it('compares runs of two hosts, each with its own key', async () => {
    const [a, same, other] = [
      await finished(0, 'short', 'you'),
      await finished(1, 'short', 'you'),
      await finished(1, 'long', 'you'),
    ];
    const env = { WEFT_API_KEY: KEYS[0], WEFT_API_KEY_B: KEYS[1], WEFT_URL: hosts[0].url };

    const equal = await weft(folder, ['diff', a, urlOf(1, same), '--json'], env);
    const different = await weft(folder, ['diff', urlOf(0, a), urlOf(1, other), '--exit-code'], env);

    const keyless = await weft(folder, ['diff', a, urlOf(1, other)], { ...env, WEFT_API_KEY_B: '' });

    expect(keyless).toMatchObject({ code: 3, out: '' });
    expect(keyless.err).toContain('Set WEFT_API_KEY_B');
    expect(equal).toMatchObject({
      code: 0,
      out: `{"a":"${a}","b":"${same}","divergedAtSeq":null,"eventDiffs":[],"stateDiff":{}}`,
    });
    expect(different.code).toBe(1);
    expect(different.out).toContain('node n2');
    expect(different.err).toContain('compared as bundles');
  });

  it('shows fifty differences and says how many follow, all of them with --all, one with --first', async () => {
    const [a, b] = [await finished(0, 'long', 'you'), await finished(0, 'long', 'me')];
    const total = (JSON.parse(await answerOf(a, b)) as { eventDiffs: unknown[] }).eventDiffs.length;
    const listed = (text: string): number => text.match(/^ {2}[~+-] #/gm)?.length ?? 0;

    const some = await on(0, 'diff', a, b);
    const all = await on(0, 'diff', a, b, '--all');
    const first = await on(0, 'diff', a, b, '--first');
    const firstJson = await on(0, 'diff', a, b, '--first', '--json');

    expect(total).toBeGreaterThan(50);
    expect([listed(some.out), listed(all.out), listed(first.out)]).toEqual([50, total, 1]);
    expect(some.out).toContain(`… and ${total - 50} more (--all)`);
    expect(all.out).not.toContain('more (--all)');
    expect(JSON.parse(firstJson.out)).toMatchObject({ difference: { op: 'changed' } });
  });

  it('adds a view that finds its place again after an insertion', async () => {
    const [a, b] = [await finished(0, 'short', 'you'), await finished(0, 'long', 'you')];

    const shown = await on(0, 'diff', a, b, '--align', 'node');

    const second = shown.out.slice(shown.out.indexOf('Paired by node'));
    expect(second).toContain('(not the protocol’s diff)');
    expect(second).toMatch(/\+ #\d+ node\.started/);
    expect(second).not.toContain('node n0\n');
  });

  it('writes one page that needs nothing else', async () => {
    const [a, b] = [await finished(0, 'short', '<b>you</b>'), await finished(0, 'short', 'me')];

    const written = await on(0, 'diff', a, b, '--html', 'diff.html');

    const page = await readFile(join(folder, 'diff.html'), 'utf8');
    expect(written.code).toBe(0);
    expect(page).toContain('hello &lt;b&gt;you&lt;/b&gt;');
    expect(page).not.toContain('<b>you');
  });

  it('says which run is missing, and refuses what makes no sense', async () => {
    const a = await finished(0, 'short', 'you');

    const missing = await on(0, 'diff', a, 'unknown');
    const nonsense = await Promise.all([
      on(0, 'diff', a),
      on(0, 'diff', a, 'http://host.test/'),
      on(0, 'diff', a, a, '--first', '--all'),
      on(0, 'diff', a, a, '--json', '--align', 'node'),
      on(0, 'diff', a, a, '--align', 'time'),
    ]);

    expect(missing).toMatchObject({ code: 3, out: '' });
    expect(missing.err).toMatch(/^unknown: /);
    expect(nonsense.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
  });
});
