import { appendFile, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { answer, doing, type ModuleParts, moduleText, wasmOf } from '@weft/packs/test-modules';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../main.ts';
import { type Project, startProject } from '../testing/own-code.ts';
import { recordedIo } from '../testing/recorded-io.ts';

const EXAMPLE = new URL('../../../../examples/wasm-pack/', import.meta.url).pathname;
const TYPESCRIPT = new URL('../../../../examples/typescript-pack/', import.meta.url).pathname;

let folder: string;
let project: Project;

async function write(name: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
}

async function weft(...argv: string[]): Promise<void> {
  const io = recordedIo({ cwd: folder });
  if ((await main(argv, io)) !== 0) throw new Error(io.err());
}

async function installExamples(): Promise<void> {
  for (const name of ['pack.json', 'schemas/greet.inputs.json', 'schemas/greet.outputs.json'])
    await write(`example/${name}`, await readFile(join(EXAMPLE, name)));
  await write('example/dist/hello.wasm', await wasmOf(await readFile(join(EXAMPLE, 'hello.wat'), 'utf8')));
  await weft('pack', 'build', 'example', '-o', 'example.tgz');
  await weft('pack', 'install', 'example.tgz');
  await weft('pack', 'build', TYPESCRIPT, '-o', 'words.tgz');
  await weft('pack', 'install', 'words.tgz');
}

/** A pack whose only node type does this. */
async function installOne(name: string, invoke: string, parts: ModuleParts = {}): Promise<void> {
  const typeId = `acme.${name}`;
  const manifest = {
    name: `vendor.acme.${name}`,
    version: '1.0.0',
    nodes: [{ typeId, version: '1.0.0', category: 'data', role: 'pure' }],
    runtime: { language: 'wasm', entry: 'dist/a.wasm', wasm: { abiVersion: 1, memoryPagesMax: 4 } },
  };
  await write(`${name}/pack.json`, JSON.stringify(manifest));
  await write(
    `${name}/dist/a.wasm`,
    await wasmOf(moduleText({ ...parts, name: manifest.name, typeId, invoke })),
  );
  await weft('pack', 'build', name, '-o', `${name}.tgz`);
  await weft('pack', 'install', `${name}.tgz`);
}

const QUESTION = '{"kind":"custom","data":{"customKind":"response"}}';

/** Logs the time and random bytes it was given, asks, and returns the answer. */
const ASKING = `(data (i32.const 1024) "${QUESTION.replaceAll('"', '\\"')}")
  (func $digit (param $at i32) (param $of i32)
    (i32.store8 (local.get $at) (i32.add (i32.const 97) (i32.and (local.get $of) (i32.const 15)))))
  (func (export "openwop_node_invoke") (param i32 i32 i32) (result i64)
    (local $at i32)
    (i64.store (i32.const 2048) (call $now))
    (call $random (i32.const 2056) (i32.const 8))
    (local.set $at (i32.const 16))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (call $digit (i32.add (i32.const 3000) (local.get $at)) (i32.load8_u (i32.add (i32.const 2048) (local.get $at))))
      (br_if $next (local.get $at)))
    (call $log (i32.const 2) (i32.const 3000) (i32.const 16))
    (call $ask (i32.const 1024) (i32.const ${QUESTION.length})))`;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-packs-')));
  // On machines without walls, code in JavaScript is run where its operator has chosen it.
  await write('packs/trust.json', '{"mode":"allowlist","allow":["vendor.acme.*","vendor.example.*"]}');
  await installExamples();
  await installOne(
    'grow',
    doing('(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable'),
  );
  await installOne('spin', doing('(loop $on (br $on)) (i32.const 0) (i32.const 0)'));
  await installOne('mute', answer(`{"outcome":"suspended","interrupt":${QUESTION}}`));
  await installOne('ask', ASKING, {
    imports: `(import "openwop" "openwop_interrupt" (func $ask (param i32 i32) (result i64)))
      (import "openwop" "openwop_now_ms" (func $now (result i64)))
      (import "openwop" "openwop_random" (func $random (param i32 i32)))
      (import "openwop" "openwop_log" (func $log (param i32 i32 i32)))`,
  });
  project = await startProject({ files: {}, flags: ['--packs', join(folder, 'packs')] });
});
afterAll(async () => {
  await project.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a host with packs', () => {
  it('runs the nodes of a WASM pack, and a replay is equal', async () => {
    const runId = await project.run('example.hello.greet', { name: 'Ada' });
    const ended = await project.ended(runId);
    const { runId: again } = await project.client.runs.fork(runId, { mode: 'replay', fromSeq: 0 });
    const replayed = await project.ended(again);

    expect(ended.status).toBe('completed');
    expect(replayed.status).toBe('completed');
    const outputs = async (id: string) => {
      const { events } = await project.client.runs.poll(id);
      return events
        .filter(({ type }) => type === 'node.completed')
        .map(({ payload }) => JSON.stringify(payload));
    };
    expect(await outputs(runId)).toEqual([expect.stringContaining('Hello, Ada!')]);
    expect(await outputs(again)).toEqual(await outputs(runId));
  });

  it('runs the nodes of a pack in TypeScript next to them', async () => {
    const ended = await project.ended(
      await project.run('example.words.slug', { text: ' Crème brûlée, twice! ' }),
    );

    expect(ended).toMatchObject({ status: 'completed', outputs: { slug: 'creme-brulee-twice' } });
  });

  it('says in discovery what it runs', async () => {
    const discovery = await (await fetch(`${project.host.url}/.well-known/openwop`)).json();

    expect(discovery).toMatchObject({
      nodePackRuntimes: { wasm: { supported: true, abiVersions: [1], maxMemoryBytes: 134_217_728 } },
    });
  });

  it('checks inputs against the schemas of the pack', async () => {
    const ended = await project.ended(await project.run('example.hello.greet', { name: 7 }));

    expect(ended).toMatchObject({ status: 'failed' });
  });

  it.each([
    ['acme.grow', {}, 'wasm_cap_breached'],
    ['acme.mute', {}, 'wasm_suspend_not_implemented'],
    ['acme.spin', { timeoutMs: 500 }, 'timeout'],
  ])('survives a module that misbehaves: %s', async (typeId, settings, code) => {
    const ended = await project.ended(await project.run(typeId, {}, settings));
    const next = await project.ended(await project.run('example.hello.greet', {}));

    expect(ended.status).toBe('failed');
    expect(JSON.stringify(ended.error)).toContain(code);
    expect(next.status).toBe('completed');
  });

  it('records a cap that a module breached before the failure, and a replay does the same', async () => {
    const runId = await project.run('acme.grow');
    await project.ended(runId);
    const { runId: again } = await project.client.runs.fork(runId, { mode: 'replay', fromSeq: 0 });
    await project.ended(again);

    const outline = async (id: string) => {
      const { events } = await project.client.runs.poll(id);
      return events
        .filter(({ type }) => /^(cap|node)\./.test(type))
        .map(({ type, payload }) => [type, type === 'cap.breached' ? payload : undefined]);
    };
    const breach = { kind: 'wasm-memory', limit: 262_144, observed: 327_680, nodeId: 'node' };
    expect(await outline(runId)).toEqual([
      ['node.started', undefined],
      ['cap.breached', breach],
      ['node.failed', undefined],
    ]);
    expect(await outline(again)).toEqual(await outline(runId));
  });

  it('asks people, outlives a kill of the host while it waits, and sees the same values again', async () => {
    const runId = await project.run('acme.ask');
    const isWaiting = (id: string) => async () =>
      (await project.client.runs.get(id)).status === 'waiting-input';
    await project.until(isWaiting(runId));
    await project.host.kill();
    await project.restartHost();
    await project.until(() => project.host.output().includes('is listening at'));

    const answered = { outcome: 'completed', output: { said: 'yes' } };
    await project.client.runs.resolve(runId, 'node', answered);
    const ended = await project.ended(runId);
    const { runId: again } = await project.client.runs.fork(runId, { mode: 'replay', fromSeq: 0 });
    await project.ended(again);

    expect(ended).toMatchObject({ status: 'completed' });
    const told = async (id: string) => {
      const { events } = await project.client.runs.poll(id);
      return events.map(
        ({ type, payload }) => [type, type === 'log.appended' ? payload : undefined] as const,
      );
    };
    const story = await told(runId);
    const logs = story.flatMap(([type, payload]) =>
      type === 'log.appended' ? [JSON.stringify(payload)] : [],
    );
    expect(logs).toHaveLength(2);
    expect(logs[1]).toBe(logs[0]);
    expect(await told(again)).toEqual(story);
  });

  it('does not start with a pack that was changed after it was installed', async () => {
    const copy = join(folder, 'changed');
    await cp(join(folder, 'packs'), copy, { recursive: true });
    await appendFile(join(copy, 'vendor.example.hello-1.0.0.tgz'), 'x');

    const { code, err } = await project.serve(['--port', '0', '--packs', copy]);

    expect(code).toBe(3);
    expect(err).toContain('The packs of --packs cannot be served.');
    expect(err).toContain('The archive is sha256-');
  });
});
