import { readFileSync } from 'node:fs';
import type { JsonObject } from '@weft/protocol';
import { afterAll, describe, expect, it } from 'vitest';
import { readPack } from '../install/open-pack.ts';
import { refusal } from '../testing/refusal.ts';
import { archiveOf, FILES, MANIFEST } from '../testing/sample-packs.ts';
import { answer, doing, type ModuleParts, moduleText, wasmOf } from '../testing/wat.ts';
import { openWasmPack, WASM_LIMITS, type WasmLimits } from './wasm-pack.ts';
import { createWasmThreads } from './wasm-threads.ts';

const threads = createWasmThreads(2);
afterAll(() => threads.stop());

async function open(source: string, change: JsonObject = {}, limits: WasmLimits = WASM_LIMITS) {
  const files = { ...FILES, 'dist/hello.wasm': await wasmOf(source) };
  return openWasmPack(await readPack(archiveOf({ ...MANIFEST, ...change }, files)), threads, limits);
}

const CALL = {
  typeId: 'acme.hello.greet',
  request: '{"inputs":{"name":"Ada"}}',
  nowMs: 1_700_000_000_000,
  seed: 'a',
};

async function invoke(parts: ModuleParts, limits?: WasmLimits) {
  return (await open(moduleText(parts), {}, limits)).invoke(CALL);
}

/** Reads and sets the variable `v` and the channel `c`, and logs what it was answered. */
function runModule(): string {
  const imports = `(import "openwop" "openwop_variable_get" (func $get (param i32 i32) (result i64)))
    (import "openwop" "openwop_variable_set" (func $set (param i32 i32 i32 i32) (result i32)))
    (import "openwop" "openwop_channel_read" (func $read (param i32 i32) (result i32 i32)))
    (import "openwop" "openwop_channel_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "openwop" "openwop_log" (func $log (param i32 i32 i32)))`;
  const body = `(local $pair i64)
    ${[1, 2]
      .map(
        (time) => `(local.set $pair (call $get (i32.const 2048) (i32.const 1)))
      (call $log (i32.const 2) (i32.wrap_i64 (local.get $pair)) (i32.wrap_i64 (i64.shr_u (local.get $pair) (i64.const 32))))
      ${time === 1 ? '(if (call $set (i32.const 2048) (i32.const 1) (i32.const 2050) (i32.const 3)) (then unreachable))' : ''}`,
      )
      .join('')}
    (call $say (call $read (i32.const 2049) (i32.const 1)))
    (i32.store8 (i32.const 2060) (i32.add (i32.const 48) (call $write (i32.const 2049) (i32.const 1) (i32.const 2050) (i32.const 3))))
    (call $log (i32.const 2) (i32.const 2060) (i32.const 1))`;
  const more = `(data (i32.const 2048) "vc[1]")
    (func $say (param i32 i32) (call $log (i32.const 2) (local.get 0) (local.get 1)))`;
  return moduleText({ imports, more, invoke: answer('{"outcome":"completed","output":{}}', body) });
}

/** Asks, and answers what it was answered. */
function askingModule(question: string): string {
  return `(data (i32.const 1024) "${question.replaceAll('"', '\\"')}")
    ${doing(`(call $ask (i32.const 1024) (i32.const ${question.length}))`)}`;
}

const FOREVER = '(loop $on (br $on))';
const HASTY = { ...WASM_LIMITS, maxExecutionMs: 300 };

describe('a WASM pack', () => {
  it('answers with pointers and lengths as two numbers', async () => {
    expect(await invoke({ invoke: answer('{"outcome":"completed","output":{"a":1}}') })).toEqual({
      outputs: { a: 1 },
      writes: { variables: {}, channels: [] },
      logs: [],
    });
  });

  it('answers with pointers and lengths as one number: the pack under examples', async () => {
    const root = new URL('../../../../examples/wasm-pack/', import.meta.url);
    const text = (name: string) => readFileSync(new URL(name, root), 'utf8');
    const files = {
      'dist/hello.wasm': await wasmOf(text('hello.wat')),
      'schemas/greet.inputs.json': text('schemas/greet.inputs.json'),
      'schemas/greet.outputs.json': text('schemas/greet.outputs.json'),
    };
    const pack = await openWasmPack(await readPack(archiveOf(text('pack.json'), files)), threads);
    const greet = async (inputs: JsonObject) =>
      pack.invoke({ ...CALL, typeId: 'example.hello.greet', request: JSON.stringify({ inputs }) });

    expect(await greet({ name: 'Ada "A" Löve\n' })).toMatchObject({
      outputs: { greeting: 'Hello, Ada "A" Löve\n!' },
      logs: [['info', 'greeting']],
    });
    expect(await greet({})).toMatchObject({ outputs: { greeting: 'Hello, world!' } });
    const long = 'x'.repeat(400_000);
    expect(await greet({ name: long })).toMatchObject({ outputs: { greeting: `Hello, ${long}!` } });
  });

  it('has a fresh instance for every call', async () => {
    const once = `(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (if (i32.gt_u (global.get $calls) (i32.const 1)) (then unreachable))`;
    const invoke = answer('{"outcome":"completed","output":{}}', once);
    const pack = await open(moduleText({ invoke, more: '(global $calls (mut i32) (i32.const 0))' }));

    for (let call = 0; call < 3; call += 1) expect(await pack.invoke(CALL)).toMatchObject({ outputs: {} });
  });

  it('gets the time of the call, bytes that follow from its seed, and nothing else (J-3)', async () => {
    const imports = `(import "openwop" "openwop_now_ms" (func $now (result i64)))
      (import "openwop" "openwop_random" (func $random (param i32 i32)))
      (import "openwop" "openwop_log" (func $log (param i32 i32 i32)))`;
    const check = `(if (i64.ne (call $now) (i64.const ${CALL.nowMs})) (then unreachable))
      (call $random (i32.const 2048) (i32.const 40))
      (call $log (i32.const 1) (i32.const 2048) (i32.const 40))`;
    const pack = await open(
      moduleText({ imports, invoke: answer('{"outcome":"completed","output":{}}', check) }),
    );
    const said = async (seed: string) => JSON.stringify(await pack.invoke({ ...CALL, seed }));

    expect(pack.uses).toEqual([]);
    expect(await said('a')).toBe(await said('a'));
    expect(await said('a')).not.toBe(await said('b'));
    expect(await said('a')).toContain('"outputs":{}');
  });

  it('reads and sets what it was given of its run, in both forms of a result', async () => {
    const pack = await open(runModule());
    const channels = { c: [1], locked: null };
    const run = { answers: [], variables: { v: 'old' }, channels, writable: ['c'] };

    expect([...pack.uses].sort()).toEqual(['channels', 'variables']);
    expect(await pack.invoke({ ...CALL, run })).toMatchObject({
      outputs: {},
      writes: { variables: { v: [1] }, channels: [{ channel: 'c', value: [1] }] },
      // Read before and after it is set; a channel as it was; then what each write answers.
      logs: ['"old"', '[1]', '[1]', '0'].map((said) => ['info', said]),
    });
    expect(await pack.invoke({ ...CALL, run: { ...run, writable: [] } })).toMatchObject({
      logs: [
        ['info', '"old"'],
        ['info', '[1]'],
        ['info', '[1]'],
        ['info', '1'],
      ],
      writes: { channels: [] },
    });
    expect(await pack.invoke(CALL)).toMatchObject({
      // What does not exist is nothing, not even an empty text.
      logs: [
        ['info', ''],
        ['info', '[1]'],
        ['info', ''],
        ['info', ';'],
      ],
      writes: { channels: [] },
    });
  });

  it.each([
    ['by its import', 'openwop_interrupt', { uses: ['questions'] }],
    ['by its answer', undefined, { uses: [] }],
  ])('asks %s, and has the answer when it is called again', async (_, by, { uses }) => {
    const question = '{"kind":"approval","key":"k","data":{"title":"Now?"}}';
    const invoke =
      by === undefined ? answer(`{"outcome":"suspended","interrupt":${question}}`) : askingModule(question);
    const pack = await open(
      moduleText({
        ...(by !== undefined && {
          imports: '(import "openwop" "openwop_interrupt" (func $ask (param i32 i32) (result i32 i32)))',
        }),
        invoke,
      }),
    );

    expect(pack.uses).toEqual(uses);
    expect(await pack.invoke(CALL)).toMatchObject({ ask: { kind: 'approval', data: { title: 'Now?' } } });
    const output = { outcome: 'completed', output: { action: 'accept' } };
    if (by !== undefined)
      expect(await pack.invoke({ ...CALL, run: { answers: [output] } })).toMatchObject({
        outputs: { action: 'accept' },
      });
  });

  it.each<[string, string, JsonObject]>([
    [
      'its own code',
      '{"outcome":"failed","error":{"code":"card_declined","message":"No."}}',
      { code: 'card_declined', message: 'No.' },
    ],
    ['a code that is none', '{"outcome":"failed","error":{"code":"DROP TABLE"}}', { code: 'node_failed' }],
    [
      'a question of no kind',
      '{"outcome":"suspended","interrupt":{"kind":"oracle"}}',
      { code: 'wasm_invocation_failed' },
    ],
    ['no question', '{"outcome":"suspended"}', { code: 'wasm_invocation_failed' }],
    ['an outcome that is none', '{"outcome":"won"}', { code: 'wasm_invocation_failed' }],
    ['an output that is no object', '{"outcome":"completed","output":7}', { code: 'wasm_invocation_failed' }],
    ['no JSON', 'hello', { code: 'wasm_invocation_failed' }],
    [
      'JSON that two readers read differently',
      '{"outcome":"completed","outcome":"failed","output":{}}',
      { code: 'wasm_invocation_failed' },
    ],
  ])('fails with %s', async (_, response, error) => {
    expect(await invoke({ invoke: answer(response) })).toMatchObject({ error });
  });

  it.each<[string, ModuleParts, string]>([
    ['traps', { invoke: doing('unreachable') }, 'wasm_invocation_failed'],
    [
      'says that its answer is longer than its memory',
      { invoke: doing('(i32.const 0) (i32.const 70000)') },
      'wasm_invocation_failed',
    ],
    [
      'says that its answer is behind its memory',
      { invoke: doing('(i32.const -1) (i32.const 10)') },
      'wasm_invocation_failed',
    ],
    [
      'says that its answer has 4 GB',
      { invoke: doing('(i32.const 0) (i32.const -1)') },
      'wasm_invocation_failed',
    ],
    [
      'answers what is not UTF-8',
      { invoke: `(data (i32.const 1024) "\\ff\\fe") ${doing('(i32.const 1024) (i32.const 2)')}` },
      'wasm_invocation_failed',
    ],
    [
      'calls itself without end',
      { invoke: doing('(call $again) (i32.const 0) (i32.const 0)'), more: '(func $again (call $again))' },
      'wasm_invocation_failed',
    ],
    [
      'asks what is behind its memory',
      {
        imports: '(import "openwop" "openwop_interrupt" (func $ask (param i32 i32) (result i64)))',
        invoke: doing('(drop (call $ask (i32.const 0) (i32.const 70000))) (i32.const 0) (i32.const 0)'),
      },
      'wasm_invocation_failed',
    ],
    [
      'has no room for an answer of the host',
      {
        imports: '(import "openwop" "openwop_variable_get" (func $get (param i32 i32) (result i64)))',
        invoke: doing('(drop (call $get (i32.const 16) (i32.const 1))) (i32.const 0) (i32.const 0)'),
        alloc: '(i32.const 65535)',
      },
      'wasm_invocation_failed',
    ],
  ])('that %s fails its call alone', async (_, parts, code) => {
    const outcome = await invoke(parts);

    expect(outcome).toMatchObject({ error: { code } });
    expect(await invoke({})).toMatchObject({ outputs: {} });
  });

  it('that never ends is ended, and its thread is replaced (J-4)', async () => {
    const pack = await open(
      moduleText({ invoke: doing(`${FOREVER} (i32.const 0) (i32.const 0)`) }),
      {},
      HASTY,
    );

    const outcomes = await Promise.all([pack.invoke(CALL), pack.invoke(CALL), invoke({})]);

    const error = {
      code: 'wasm_cap_breached',
      details: { kind: 'wasm-execution-time', limit: 300, observed: 301 },
    };
    expect(outcomes).toMatchObject([{ error }, { error }, { outputs: {} }]);
  });

  it('that is not wanted any more is ended (J-4)', async () => {
    const pack = await open(moduleText({ invoke: doing(`${FOREVER} (i32.const 0) (i32.const 0)`) }));

    expect(await pack.invoke(CALL, AbortSignal.timeout(50))).toMatchObject({
      error: { message: 'The call was stopped.' },
    });
  });

  it.each([
    ['its own maximum', '1 4', {}, 4],
    ['the limit of the host, though it names no maximum', '1', {}, 16],
    ['the limit of the host, though it names a larger one', '1 60000', {}, 16],
    ['the maximum of its manifest', '1 60000', { abiVersion: 1, memoryPagesMax: 3 }, 3],
  ])('gets no more memory than %s', async (_, memory, wasm, pages) => {
    const grow = '(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable';
    const runtime = { ...(MANIFEST['runtime'] as JsonObject), ...('abiVersion' in wasm && { wasm }) };
    const pack = await open(
      moduleText({ memory, invoke: doing(grow) }),
      { runtime },
      { ...WASM_LIMITS, maxMemoryBytes: 16 * 65_536 },
    );

    expect(await pack.invoke(CALL)).toMatchObject({
      error: { code: 'wasm_cap_breached', details: { kind: 'wasm-memory', limit: pages * 65_536 } },
    });
  });

  it.each<[string, string, ModuleParts]>([
    ['wasm_module_invalid', 'lacks an export', { without: 'openwop_node_invoke' }],
    ['wasm_module_invalid', 'shows no memory', { without: 'memory' }],
    [
      'wasm_module_invalid',
      'imports files',
      { imports: '(import "wasi_snapshot_preview1" "fd_write" (func))' },
    ],
    [
      'wasm_module_invalid',
      'imports what is not offered',
      { imports: '(import "openwop" "openwop_shell" (func))' },
    ],
    ['wasm_module_invalid', 'begins with more memory than it may have', { memory: '4000 5000' }],
    [
      'wasm_module_invalid',
      'has a start that never ends',
      { more: `(func $begin ${FOREVER}) (start $begin)` },
    ],
    ['wasm_module_invalid', 'has a start that traps', { more: '(func $begin unreachable) (start $begin)' }],
    ['unsupported_abi_version', 'speaks another version', { abi: 2 }],
  ])('is refused with %s when it %s', async (code, _, parts) => {
    expect(await refusal(async () => open(moduleText(parts), {}, HASTY))).toMatchObject({ code });
  });

  it('is refused when it is not what its manifest says', async () => {
    const [node] = MANIFEST['nodes'] as JsonObject[];
    const text = moduleText();

    expect(await refusal(() => open(text, { name: 'vendor.acme.other' }))).toMatchObject({
      code: 'manifest_name_mismatch',
    });
    expect(await refusal(() => open(text, { nodes: [{ ...node, typeId: 'acme.none' }] }))).toMatchObject({
      code: 'wasm_module_invalid',
    });
    expect(
      await refusal(() =>
        open(text, { runtime: { language: 'wasm', entry: 'dist/hello.wasm', wasm: { abiVersion: 7 } } }),
      ),
    ).toMatchObject({ code: 'unsupported_abi_version' });
  });

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['a damaged module', '\0asm\u0001\0\0\0\u0005\u007f'],
  ])('is refused when its module is %s', async (_, bytes) => {
    const pack = await readPack(archiveOf(MANIFEST, { ...FILES, 'dist/hello.wasm': bytes }));

    expect(await refusal(() => openWasmPack(pack, threads))).toMatchObject({ code: 'wasm_module_invalid' });
  });
});
