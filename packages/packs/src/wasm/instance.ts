/**
 * One instance of a module, for one call. Whatever the module says about its memory is held against the memory before it is read.
 *
 * J-3. A module gets nothing but what is passed to it: no file, no network, no clock but the time of the call, and random bytes that
 *      follow from the call.
 */
import { createHash } from 'node:crypto';
import { IMPORT_MODULE, LOG_LEVELS, PAGE_BYTES, STATUS } from './abi.ts';
import type { LogLine, ModuleCall, ModuleFailure } from './thread-messages.ts';

const LONGEST_RESPONSE = 4 * 1024 * 1024;
const LONGEST_NAME = 256;
const MOST_NODES = 200;
const MOST_LOGS = 100;
const LONGEST_LOG = 4_096;
const MOST_RANDOM = 65_536;

/** Ends the call from inside an import, whatever the module makes of it. */
export class ModuleStop extends Error {
  readonly failure: ModuleFailure;

  constructor(failure: ModuleFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export interface Instance {
  abiVersion(): number;
  packName(): string;
  typeIds(): string[];
  invoke(index: number, request: string): string;
  /** Why a call was cut short by the engine. */
  failureOf(error: unknown): ModuleFailure;
  readonly logs: readonly LogLine[];
}

type Call = Pick<ModuleCall, 'nowMs' | 'seed'>;

export function openInstance(module: WebAssembly.Module, call: Call): Instance {
  const logs: LogLine[] = [];
  // Known when the module has started; its start function may call imports before.
  const own: { memory?: WebAssembly.Memory } = {};
  let stopped: ModuleStop | undefined;

  function stop(failure: ModuleFailure): never {
    stopped ??= new ModuleStop(failure);
    throw stopped;
  }

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

  const imports = {
    openwop_channel_read: () => NOTHING,
    openwop_channel_write: () => STATUS.channelAccessDenied,
    openwop_variable_get: () => NOTHING,
    openwop_variable_set: () => STATUS.capabilityBreach,
    openwop_interrupt: () => stop(NO_SUSPENSION),
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

  function ask(name: string, ...args: number[]): unknown {
    const result: unknown = (exported[name] as (...given: number[]) => unknown)(...args);
    // A module that caught what an import threw has ended all the same.
    if (stopped !== undefined) throw stopped;
    return result;
  }

  function textOf(result: unknown, longest: number, what: string): string {
    const [pointer, length] = pairOf(result);
    return text(bytesAt(pointer, length, longest, what));
  }

  return {
    logs,
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
      return textOf(ask('openwop_node_invoke', index, pointer, bytes.length), LONGEST_RESPONSE, 'the answer');
    },
    failureOf(error) {
      if (error instanceof ModuleStop) return error.failure;
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

export const NO_SUSPENSION: ModuleFailure = {
  code: 'wasm_suspend_not_implemented',
  message: 'The module wants to suspend the run, which nodes of WASM packs cannot do on this host.',
};

/** Both forms of a pointer and a length: two numbers, or one of 64 bits with the length in the upper half. */
function pairOf(result: unknown): readonly [number, number] {
  if (Array.isArray(result) && result.length === 2) return [Number(result[0]), Number(result[1])];
  if (typeof result === 'bigint')
    return [Number(BigInt.asUintN(32, result)), Number(BigInt.asUintN(64, result) >> 32n)];
  throw new Error('a result is neither two numbers nor one of 64 bits');
}

/** No pointer and no length, in whichever form the module declares its import: the engine asks for the one or the other. */
const NOTHING = {
  [Symbol.toPrimitive]: () => 0n,
  *[Symbol.iterator]() {
    yield 0;
    yield 0;
  },
};

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
