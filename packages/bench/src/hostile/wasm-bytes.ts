/** Modules of version 1 of the ABI, written in bytes: an attacker needs no assembler. */

export interface ModuleParts {
  readonly name: string;
  readonly typeId: string;
  /** Instructions of `openwop_node_invoke`, by which it answers or does not. */
  readonly invoke: readonly number[];
  /** Instructions of `openwop_alloc`. */
  readonly alloc?: readonly number[];
  /** Instructions of the start function. */
  readonly start?: readonly number[];
}

const [LOG, RANDOM, NOW, INVOKE] = [0, 1, 2, 9];
const LOOP = [0x03, 0x40];
const END = 0x0b;
const AGAIN = [0x0c, 0x00];
const UNREACHABLE = 0x00;
const call = (index: number) => [0x10, index];
const i32 = (value: number) => [0x41, ...signed(BigInt(value))];
/** A pointer and a length in one number of 64 bits. */
const pair = (pointer: number, length: number) => [
  0x42,
  ...signed(BigInt.asIntN(64, (BigInt(length) << 32n) | BigInt(pointer))),
];

const [NAME_AT, TYPE_AT, ANSWER_AT] = [16, 128, 1_024];
const ANSWER = '{"outcome":"completed","output":{}}';

export const INSTRUCTIONS = {
  answers: pair(ANSWER_AT, ANSWER.length),
  loops: [...LOOP, ...AGAIN, END, UNREACHABLE],
  /** `memory.grow` until it is refused. */
  grows: [...LOOP, ...i32(1), 0x40, 0x00, ...i32(-1), 0x47, 0x0d, 0x00, END, UNREACHABLE],
  recurses: [0x20, 0, 0x20, 1, 0x20, 2, ...call(INVOKE)],
  /** Of four gigabytes, from the last bytes on. */
  liesAboutItsAnswer: pair(0xffff_fff0, 0xffff_ffff),
  liesAboutItsMemory: i32(-16),
  asksWithoutEnd: [
    ...LOOP,
    ...[...i32(2), ...i32(NAME_AT), ...i32(16), ...call(LOG)],
    ...[...i32(0), ...i32(65_535), ...call(RANDOM)],
    ...[...AGAIN, END, UNREACHABLE],
  ],
  /** At its installation there is no time yet. */
  loopsOnceItIsTime: [...call(NOW), 0x50, 0x45, 0x04, 0x40, ...LOOP, ...AGAIN, END, END],
} as const;

export function moduleBytes({ name, typeId, invoke, alloc = i32(32_768), start }: ModuleParts): Uint8Array {
  const bodies = [
    i32(1),
    pair(NAME_AT, name.length),
    i32(1),
    pair(TYPE_AT, typeId.length),
    alloc,
    [],
    invoke,
    start ?? [],
  ];
  const texts = [name, typeId, ANSWER];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      list(TYPES.map(([given, made]) => [0x60, ...list(given.map(one)), ...list(made.map(one))])),
    ),
    ...section(2, list(IMPORTS.map(([each, type]) => [...text('openwop'), ...text(each), 0, type]))),
    ...section(3, list(FUNCTION_TYPES.map(one))),
    ...section(5, list([[0, 1]])),
    ...section(7, list(EXPORTS.map(([each, kind, index]) => [...text(each), kind, index]))),
    ...(start === undefined ? [] : section(8, [10])),
    ...section(10, list(bodies.map((body) => sized([0, ...body, END])))),
    ...section(
      11,
      list(
        [NAME_AT, TYPE_AT, ANSWER_AT].map((at, index) => [0, ...i32(at), END, ...text(texts[index] ?? '')]),
      ),
    ),
  ]);
}

const [I32, I64] = [0x7f, 0x7e];
const TYPES: readonly (readonly [readonly number[], readonly number[]])[] = [
  [[], [I32]],
  [[], [I64]],
  [[I32], [I64]],
  [[I32], [I32]],
  [[I32, I32], []],
  [[I32, I32, I32], [I64]],
  [[], []],
  [[I32, I32, I32], []],
];
const IMPORTS: readonly (readonly [string, number])[] = [
  ['openwop_log', 7],
  ['openwop_random', 4],
  ['openwop_now_ms', 1],
];
const FUNCTION_TYPES = [0, 1, 0, 2, 3, 4, 5, 6];
const EXPORTS: readonly (readonly [string, number, number])[] = [
  ['memory', 2, 0],
  ['openwop_abi_version', 0, 3],
  ['openwop_pack_name', 0, 4],
  ['openwop_node_count', 0, 5],
  ['openwop_node_id_at', 0, 6],
  ['openwop_alloc', 0, 7],
  ['openwop_free', 0, 8],
  ['openwop_node_invoke', 0, INVOKE],
];

function one(byte: number): number[] {
  return [byte];
}

function text(value: string): number[] {
  return sized([...Buffer.from(value)]);
}

function list(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...sized(content)];
}

function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...unsigned(Math.floor(value / 128))];
}

function signed(value: bigint): number[] {
  const low = Number(BigInt.asUintN(7, value));
  const rest = value >> 7n;
  const isLast = (rest === 0n && low < 64) || (rest === -1n && low >= 64);
  return isLast ? [low] : [low + 128, ...signed(rest)];
}
