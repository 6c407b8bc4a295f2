import { createPublicKey } from 'node:crypto';
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
      new RegExp(
        `^${answer.runId}  completed, \\d+ events, digest and signature checked, signed by [0-9a-f]{16}, already imported\n$`,
      ),
    );
    expect((await on(1, 'runs', 'show', answer.runId)).out).toContain('digest');
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
    [
      'was changed where only its signature covers it',
      (bundle) => JSON.stringify({ ...bundle, weft: { ...(bundle['weft'] as JsonObject), omitted: [] } }),
      /signature/,
    ],
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

describe('weft import of a bundle whose signer matters', () => {
  async function keyOf(index: 0 | 1): Promise<string> {
    const response = await fetch(`${hosts[index].url}/.well-known/openwop`);
    const { auth } = (await response.json()) as {
      auth: { auditLogIntegrity: { checkpointPublicKey: string } };
    };
    return auth.auditLogIntegrity.checkpointPublicKey;
  }

  async function unsigned(): Promise<string> {
    const bundle = JSON.parse(await readFile(join(folder, 'other.json'), 'utf8')) as JsonObject;
    const { signature: _signature, ...extras } = bundle['weft'] as JsonObject;
    await writeFile(join(folder, 'unsigned.json'), JSON.stringify({ ...bundle, weft: extras }));
    return 'unsigned.json';
  }

  it('takes it when the key is the one of the host that it is from, as text or in a file', async () => {
    const key = await keyOf(0);
    const pem = createPublicKey({ key: Buffer.from(key, 'base64'), type: 'spki', format: 'der' });
    await writeFile(join(folder, 'one.pem'), pem.export({ type: 'spki', format: 'pem' }));
    await writeFile(join(folder, 'one.key'), `${key}\n`);

    for (const trusted of [key, 'one.pem', 'one.key', join('one', 'audit.key')]) {
      const { code, out } = await on(1, 'import', 'one.json', '--trust', trusted);
      expect({ trusted, code }).toEqual({ trusted, code: 0 });
      expect(out).toContain('digest and signature checked, signed by');
    }
  });

  it('is what weft bundle says of it', async () => {
    const { out } = await on(0, 'bundle', runs.one, '-o', 'said.json');

    expect(out).toMatch(/values masked, signed, /);
  });

  it('does not send it when the key is another one, or when it is not signed', async () => {
    const file = await unsigned();

    const other = await on(1, 'import', 'one.json', '--trust', await keyOf(1), '--json');
    const unsignedOne = await on(1, 'import', file, '--trust', await keyOf(0));

    expect(other).toMatchObject({ code: 4, out: '', err: expect.stringContaining('signer_not_trusted') });
    expect(unsignedOne).toMatchObject({ code: 4, out: '', err: expect.stringContaining('is not signed') });
  });

  it('says when what should be trusted is no key', async () => {
    await writeFile(join(folder, 'no.key'), 'nothing');

    const [text, file] = [
      await on(1, 'import', 'one.json', '--trust', 'c2hvcnQ'),
      await on(1, 'import', 'one.json', '--trust', 'no.key'),
    ];

    expect(text).toMatchObject({ code: 3, err: expect.stringContaining('neither') });
    expect(file).toMatchObject({ code: 3, err: expect.stringContaining('must hold an Ed25519 public key') });
  });

  it('says of an unsigned one that only its digest was checked', async () => {
    const { out } = await on(1, 'import', await unsigned());

    expect(out).toContain('digest checked, not signed');
  });
});

describe('weft runs rm of an imported run', () => {
  it('takes it away although its log has no end', async () => {
    await on(0, 'bundle', runs.one, '-o', 'cut.json', '--max-events', '3');
    const { runId } = JSON.parse((await on(1, 'import', 'cut.json', '--json')).out) as { runId: string };

    const removed = await on(1, 'runs', 'rm', runId);

    expect(removed).toMatchObject({ code: 0, out: expect.stringContaining(`${runId}  removed`) });
    expect((await on(1, 'runs', 'show', runId)).code).toBe(3);
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
