/**
 * One instance of a module, for one call. Whatever the module says about its memory is held against the memory before it is read.
 *
 * J-3. A module gets nothing but what is passed to it: no file, no network, no clock but the time of the call, and random bytes that
 *      follow from the call.
 */
import { createHash } from 'node:crypto';
import { IMPORT_MODULE, LOG_LEVELS, PAGE_BYTES } from './abi.ts';
import { Asked, createRunImports } from './run-imports.ts';
import type { LogLine, ModuleCall, ModuleFailure, ModuleWrites } from './thread-messages.ts';

const LONGEST_RESPONSE = 4 * 1024 * 1024;
/** What a module tells by an import: a name, a value, a question. */
const LONGEST_GIVEN = 256 * 1024;
const LONGEST_NAME = 256;
const MOST_NODES = 200;
const MOST_LOGS = 100;
const LONGEST_LOG = 4_096;
const MOST_RANDOM = 65_536;

export interface Instance {
  abiVersion(): number;
  packName(): string;
  typeIds(): string[];
  invoke(index: number, request: string): string;
  /** Why a call was cut short by the engine. */
  failureOf(error: unknown): ModuleFailure;
  readonly logs: readonly LogLine[];
  readonly writes: ModuleWrites;
}

type Call = Pick<ModuleCall, 'nowMs' | 'seed' | 'run'>;

export function openInstance(module: WebAssembly.Module, call: Call): Instance {
  const logs: LogLine[] = [];
  // Known when the module has started; its start function may call imports before.
  const own: { memory?: WebAssembly.Memory; alloc?: (size: number) => unknown } = {};
  const run = createRunImports(call.run);
  let stopped: Asked | undefined;

  function bytesAt(pointer: unknown, length: unknown, longest: number, what: string): Uint8Array {
    const [at, size] = [Number(pointer) >>> 0, Number(length) >>> 0];
    const whole = own.memory?.buffer.byteLength ?? 0;
    if (size > longest) throw new Error(`${what} has ${size} bytes; ${longest} at most`);
    if (at + size > whole)
      throw new Error(`${what} is said to end at byte ${at + size}, and the memory has ${whole}`);
    // The memory may have been replaced by a larger one at any call.
    return new Uint8Array(own.memory?.buffer ?? new ArrayBuffer(0), at, size);
  }

  const text = (bytes: Uint8Array, isFatal = true) =>
    new TextDecoder('utf-8', { fatal: isFatal }).decode(bytes);

  const given = (pointer: number, length: number) =>
    text(bytesAt(pointer, length, LONGEST_GIVEN, 'an argument'));

  /** Lays a text into the memory of the module, where the module frees it. */
  function lay(answer: string | undefined): Pair {
    if (answer === undefined || own.alloc === undefined) return pairFor(0, 0);
    const bytes = new TextEncoder().encode(answer);
    const pointer = Number(own.alloc(bytes.length)) >>> 0;
    bytesAt(pointer, bytes.length, bytes.length, 'what an import answers').set(bytes);
    return pairFor(pointer, bytes.length);
  }

  const imports = {
    openwop_channel_read: (pointer: number, length: number) => lay(run.readChannel(given(pointer, length))),
    openwop_channel_write: (name: number, nameLength: number, value: number, length: number) =>
      run.writeChannel(given(name, nameLength), given(value, length)),
    openwop_variable_get: (pointer: number, length: number) => lay(run.readVariable(given(pointer, length))),
    openwop_variable_set: (name: number, nameLength: number, value: number, length: number) =>
      run.setVariable(given(name, nameLength), given(value, length)),
    openwop_interrupt(pointer: number, length: number) {
      try {
        return lay(run.interrupt(given(pointer, length)));
      } catch (error) {
        if (error instanceof Asked) stopped ??= error;
        throw error;
      }
    },
    openwop_log(level: number, pointer: number, length: number) {
      if (logs.length >= MOST_LOGS) return;
      const line = bytesAt(pointer, Math.min(length >>> 0, LONGEST_LOG), LONGEST_LOG, 'a log line');
      logs.push([LOG_LEVELS[level] ?? 'info', text(line, false)]);
    },
    openwop_now_ms: () => BigInt(call.nowMs),
    openwop_random: randomSource(call.seed, (pointer, length) =>
      bytesAt(pointer, length, MOST_RANDOM, 'what random fills'),
    ),
  };

  const exported = new WebAssembly.Instance(module, { [IMPORT_MODULE]: imports }).exports;
  own.memory = exported['memory'] as WebAssembly.Memory;
  own.alloc = exported['openwop_alloc'] as (size: number) => unknown;

  function ask(name: string, ...args: number[]): unknown {
    const result: unknown = (exported[name] as (...given: number[]) => unknown)(...args);
    // A module that caught the question on its way out has asked all the same.
    if (stopped !== undefined) throw stopped;
    return result;
  }

  function textOf(result: unknown, longest: number, what: string): string {
    const [pointer, length] = pairOf(result);
    return text(bytesAt(pointer, length, longest, what));
  }

  return {
    logs,
    writes: run.writes,
    abiVersion: () => Number(ask('openwop_abi_version')),
    packName: () => textOf(ask('openwop_pack_name'), LONGEST_NAME, 'the name of the pack'),
    typeIds() {
      const count = Number(ask('openwop_node_count'));
      if (!(count >= 1 && count <= MOST_NODES)) throw new Error(`it says that it has ${count} node types`);
      return Array.from({ length: count }, (_, index) =>
        textOf(ask('openwop_node_id_at', index), LONGEST_NAME, 'the id of a node type'),
      );
    },
    invoke(index, request) {
      const bytes = new TextEncoder().encode(request);
      const pointer = Number(ask('openwop_alloc', bytes.length)) >>> 0;
      bytesAt(pointer, bytes.length, bytes.length, 'the request').set(bytes);
      const result = ask('openwop_node_invoke', index, pointer, bytes.length);
      const response = textOf(result, LONGEST_RESPONSE, 'the answer');
      const [at, length] = pairOf(result);
      if (length > 0) ask('openwop_free', at, length);
      return response;
    },
    failureOf(error) {
      const message = error instanceof Error ? error.message : String(error);
      return (
        memoryBreach(own.memory) ?? {
          code: 'wasm_invocation_failed',
          message: `The module failed: ${message}.`,
        }
      );
    },
  };
}

/** Both forms of a pointer and a length: two numbers, or one of 64 bits with the length in the upper half. */
function pairOf(result: unknown): readonly [number, number] {
  if (Array.isArray(result) && result.length === 2) return [Number(result[0]), Number(result[1])];
  if (typeof result === 'bigint')
    return [Number(BigInt.asUintN(32, result)), Number(BigInt.asUintN(64, result) >> 32n)];
  throw new Error('a result is neither two numbers nor one of 64 bits');
}

interface Pair extends Iterable<number> {
  [Symbol.toPrimitive](): bigint;
}

/** A pointer and a length, in whichever form the module declares its import: the engine asks for the one or the other. */
function pairFor(pointer: number, length: number): Pair {
  return {
    [Symbol.toPrimitive]: () => (BigInt(length) << 32n) | BigInt(pointer),
    *[Symbol.iterator]() {
      yield pointer;
      yield length;
    },
  };
}

/** The engine does not say why a module gave up; one whose memory cannot grow any more ran out of it. */
function memoryBreach(memory: WebAssembly.Memory | undefined): ModuleFailure | undefined {
  if (memory === undefined) return undefined;
  const bytes = memory.buffer.byteLength;
  try {
    memory.grow(1);
    return undefined;
  } catch {
    return {
      code: 'wasm_cap_breached',
      message: `The module used all of its memory, ${bytes} bytes.`,
      details: { kind: 'wasm-memory', limit: bytes, observed: bytes + PAGE_BYTES },
    };
  }
}

function randomSource(seed: string, bytesAt: (pointer: number, length: number) => Uint8Array) {
  let drawn = 0;
  return (pointer: number, length: number): void => {
    const target = bytesAt(pointer, length);
    for (let at = 0; at < target.length; at += 32) {
      const block = createHash('sha256').update(`${seed}\n${drawn}`).digest();
      drawn += 1;
      target.set(block.subarray(0, Math.min(32, target.length - at)), at);
    }
  };
}
