import type { CharacterSet } from './character-set.ts';
import type { Assertion, PatternNode } from './syntax.ts';

/** Instructions in columns, so that running them touches nothing but numbers. */
export interface Program {
  readonly size: number;
  readonly ops: Uint8Array;
  /** Of ONE the position of its set, of ASSERT of its assertion, of FORK and JUMP where they lead. */
  readonly operands: Int32Array;
  readonly sets: readonly CharacterSet[];
  /** Steps to ask each of the sets. */
  readonly costs: readonly number[];
  /** The whole pattern is this text and nothing else. */
  readonly literal?: string;
  /** Matches at the start of the text, or not at all. */
  readonly isAnchored: boolean;
  /** Room for a test. */
  readonly scratch: Scratch;
}

interface Scratch {
  /** At which position an instruction was last put on a list. */
  readonly seenAt: Float64Array;
  readonly open: Int32Array;
  waiting: Int32Array;
  former: Int32Array;
}

export const ONE = 0;
export const ASSERT = 1;
/** Continues with the next instruction and with another one. */
export const FORK = 2;
export const JUMP = 3;
export const MATCH = 4;

export const ASSERTIONS: readonly Assertion[] = [
  'text-start',
  'text-end',
  'line-start',
  'line-end',
  'word',
  'not-word',
];

/** Instructions that the program of a pattern has, counted without making them. */
export function programSize(node: PatternNode): number {
  return sizeOf(node) + 1;
}

export function makeProgram(node: PatternNode): Program {
  const size = programSize(node);
  const into: Emitted = { ops: new Uint8Array(size), operands: new Int32Array(size), sets: [], size: 0 };
  emit(node, into);
  put(into, MATCH, 0);
  const { ops, operands, sets } = into;
  const literal = literalOf(node);
  const scratch: Scratch = {
    seenAt: new Float64Array(size),
    open: new Int32Array(2 * size),
    waiting: new Int32Array(size),
    former: new Int32Array(size),
  };
  return {
    size,
    ops,
    operands,
    sets,
    costs: sets.map(costOf),
    isAnchored: isAnchored(node),
    scratch,
    ...(literal !== undefined && { literal }),
  };
}

interface Emitted {
  readonly ops: Uint8Array;
  readonly operands: Int32Array;
  readonly sets: CharacterSet[];
  size: number;
}

/** Returns where it was put. */
function put(into: Emitted, op: number, operand: number): number {
  into.ops[into.size] = op;
  into.operands[into.size] = operand;
  return into.size++;
}

function sizeOf(node: PatternNode): number {
  switch (node.op) {
    case 'empty':
      return 0;
    case 'one':
    case 'assert':
      return 1;
    case 'sequence':
      return node.parts.reduce((sum, part) => sum + sizeOf(part), 0);
    case 'choice':
      return node.parts.reduce((sum, part) => sum + sizeOf(part) + 2, -2);
    case 'repeat': {
      const part = sizeOf(node.part);
      const { min, max } = node;
      if (part === 0) return 0;
      if (max === Number.POSITIVE_INFINITY) return Math.max(min, 1) * part + (min === 0 ? 2 : 1);
      return min * part + (max - min) * (part + 1);
    }
  }
}

function emit(node: PatternNode, into: Emitted): void {
  switch (node.op) {
    case 'empty':
      return;
    case 'one':
      // A repeated part is emitted many times, and its set is the same each time.
      if (into.sets.at(-1) !== node.set) into.sets.push(node.set);
      put(into, ONE, into.sets.length - 1);
      return;
    case 'assert':
      put(into, ASSERT, ASSERTIONS.indexOf(node.holds));
      return;
    case 'sequence':
      for (const part of node.parts) emit(part, into);
      return;
    case 'choice':
      return emitChoice(node.parts, into);
    case 'repeat':
      if (sizeOf(node.part) > 0) emitRepeat(node, into);
  }
}

/** Asking the platform about a property, or for the other case, takes as long as visiting a few instructions. */
const PLATFORM_STEPS = 6;

function costOf({ properties, ignoresCase }: CharacterSet): number {
  return 1 + PLATFORM_STEPS * (properties.length + Number(ignoresCase));
}

function emitChoice(parts: readonly PatternNode[], into: Emitted): void {
  const ends: number[] = [];
  for (const part of parts.slice(0, -1)) {
    const fork = put(into, FORK, 0);
    emit(part, into);
    ends.push(put(into, JUMP, 0));
    into.operands[fork] = into.size;
  }
  emit(parts.at(-1) as PatternNode, into);
  for (const end of ends) into.operands[end] = into.size;
}

function emitRepeat({ part, min, max }: PatternNode & { op: 'repeat' }, into: Emitted): void {
  if (max === Number.POSITIVE_INFINITY) return emitLoop(part, min, into);
  for (let count = 0; count < min; count++) emit(part, into);
  const forks: number[] = [];
  for (let count = min; count < max; count++) {
    forks.push(put(into, FORK, 0));
    emit(part, into);
  }
  for (const fork of forks) into.operands[fork] = into.size;
}

/** The last of the parts leads back to itself; where none is needed, a fork leads around it. */
function emitLoop(part: PatternNode, min: number, into: Emitted): void {
  const around = min === 0 ? put(into, FORK, 0) : undefined;
  for (let count = 1; count < min; count++) emit(part, into);
  const start = into.size;
  emit(part, into);
  put(into, FORK, start);
  if (around !== undefined) into.operands[around] = into.size;
}

/** Most patterns of people who look for a word are that word. */
function literalOf(node: PatternNode): string | undefined {
  const parts = node.op === 'sequence' ? node.parts : [node];
  let text = '';
  for (const part of parts) {
    if (part.op !== 'one') return undefined;
    const { ranges, properties, isNegated, ignoresCase } = part.set;
    const [first, last] = ranges;
    if (ranges.length !== 2 || first !== last || properties.length > 0 || isNegated || ignoresCase)
      return undefined;
    text += String.fromCodePoint(first as number);
  }
  return text;
}

function isAnchored(node: PatternNode): boolean {
  switch (node.op) {
    case 'assert':
      return node.holds === 'text-start';
    case 'sequence':
      return isAnchored(node.parts[0] as PatternNode);
    case 'choice':
      return node.parts.every(isAnchored);
    case 'repeat':
      return node.min > 0 && isAnchored(node.part);
    default:
      return false;
  }
}
