import { PackError } from '../pack-error.ts';
import { PAGE_BYTES } from './abi.ts';

/**
 * The module with a maximum for its memory that is not above the limit. An engine in JavaScript has no other way to limit a memory
 * that a module makes itself. Only the section of memories is read; the engine checks all the rest. Throws PackError.
 */
export function limitMemory(module: Uint8Array, maxPages: number): Uint8Array {
  const reader = sectionReader(module);
  for (let section = reader.next(); section !== undefined; section = reader.next()) {
    if (section.id !== MEMORY_SECTION) continue;
    const { initial, maximum } = readLimits(module, section);
    if (initial > maxPages)
      throw invalid(
        `its memory begins with ${initial * PAGE_BYTES} bytes; ${maxPages * PAGE_BYTES} at most are given`,
      );
    const content = [1, 1, ...leb(initial), ...leb(Math.min(maximum ?? maxPages, maxPages))];
    const rewritten = Uint8Array.of(MEMORY_SECTION, ...leb(content.length), ...content);
    return Buffer.concat([module.subarray(0, section.start), rewritten, module.subarray(section.end)]);
  }
  throw invalid('it has no memory of its own');
}

const HEADER = 8;
const MEMORY_SECTION = 5;

interface Section {
  readonly id: number;
  /** Of the section with its head, and of its content. */
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

function sectionReader(module: Uint8Array): { next(): Section | undefined } {
  let at = HEADER;
  return {
    next() {
      if (at >= module.length) return undefined;
      const start = at;
      const size = readLeb(module, start + 1);
      const end = size.at + size.value;
      if (end > module.length) throw invalid('a section is longer than the module');
      at = end;
      return { id: module[start] ?? 0, start, content: size.at, end };
    },
  };
}

function readLimits(
  module: Uint8Array,
  section: Section,
): { readonly initial: number; readonly maximum: number | undefined } {
  const count = readLeb(module, section.content);
  const flags = module[count.at];
  if (count.value !== 1 || (flags !== 0 && flags !== 1))
    throw invalid('it needs exactly one memory, not shared, with 32-bit addresses');
  const initial = readLeb(module, count.at + 1);
  const maximum = flags === 1 ? readLeb(module, initial.at) : { value: undefined, at: initial.at };
  if (maximum.at !== section.end) throw invalid('its section of memories is damaged');
  return { initial: initial.value, maximum: maximum.value };
}

/** An unsigned number of 32 bits. */
function readLeb(bytes: Uint8Array, from: number): { readonly value: number; readonly at: number } {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[from + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, at: from + index + 1 };
  }
  throw invalid('a number in it is damaged');
}

function leb(value: number): number[] {
  const low = value % 128;
  const rest = Math.floor(value / 128);
  return rest === 0 ? [low] : [low + 128, ...leb(rest)];
}

function invalid(problem: string): PackError {
  return new PackError('wasm_module_invalid', `The WASM module cannot be used: ${problem}.`);
}
