import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { doing, moduleText, wasmOf } from '../testing/wat.ts';
import { openWasmPack } from '../wasm/wasm-pack.ts';
import { createWasmThreads } from '../wasm/wasm-threads.ts';
import { SUITE_MODULES } from './suite-modules.ts';
import { suitePack } from './suite-packs.ts';

const GREET = 'vendor.openwop.rust-hello.greet';
const BOMB = 'vendor.openwop.misbehaving.memory-bomb';
const CALL = { nowMs: 0, seed: '' };

const threads = createWasmThreads(1);
afterAll(() => threads.stop());

/** The module of the example, under another name. */
function greeter(): string {
  const text = readFileSync(new URL('../../../../examples/wasm-pack/hello.wat', import.meta.url), 'utf8');
  return text
    .replace('"vendor.example.hello"', '"vendor.openwop.rust-hello"')
    .replace('(i32.const 16) (i32.const 20)', '(i32.const 16) (i32.const 25)')
    .replace('"example.hello.greet"', `"${GREET}"`)
    .replace('(i32.const 64) (i32.const 19)', '(i32.const 64) (i32.const 31)');
}

function bomb(): string {
  const grow = '(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable';
  return moduleText({ name: 'vendor.openwop.misbehaving', typeId: BOMB, memory: '1', invoke: doing(grow) });
}

const base64 = async (text: string) => Buffer.from(await wasmOf(text)).toString('base64');

describe('the packs that suites expect', () => {
  it('are what their text assembles to', async () => {
    expect(SUITE_MODULES).toEqual({ [GREET]: await base64(greeter()), [BOMB]: await base64(bomb()) });
  });

  it('greet, and take all the memory they can get', async () => {
    const [greet, grow] = await Promise.all(
      [GREET, BOMB].map((id) => openWasmPack(suitePack(id as typeof GREET), threads)),
    );

    expect(
      await greet?.invoke({ ...CALL, typeId: GREET, request: '{"inputs":{"name":"openwop"}}' }),
    ).toMatchObject({
      outputs: { greeting: 'Hello, openwop!' },
    });
    expect(await grow?.invoke({ ...CALL, typeId: BOMB, request: '{}' })).toMatchObject({
      error: { code: 'wasm_cap_breached', details: { kind: 'wasm-memory', limit: 16_777_216 } },
    });
  });
});
