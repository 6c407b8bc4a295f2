import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { StoredEvent } from '../../store.ts';
import type { MaskingMode } from '../plan.ts';

/**
 * Where a bundle holds a mark instead of a value. What is counted are slots, the smallest places that a person can name: an
 * input, a variable's new value, one output of a node. A mark anywhere inside makes the whole slot unknown.
 *
 * The list that our own bundles carry is not covered by their digest, so the marks themselves are looked for as well.
 */
export interface MaskedSlots {
  readonly inputs: readonly string[];
  readonly configurable: readonly string[];
  /** By sequence: JSON Pointers into the payload. */
  readonly events: Readonly<Record<string, readonly string[]>>;
  /** Names were left out together with their values, so inputs may be missing of which nothing is known. */
  readonly isSilent: boolean;
}

export interface MarkedBundle {
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly events: readonly StoredEvent[];
  readonly mode: MaskingMode;
  /** JSON Pointers that the bundle itself gives; undefined for bundles of other hosts. */
  readonly pointers: readonly string[] | undefined;
}

export function findMaskedSlots(bundle: MarkedBundle): MaskedSlots {
  const isMark = markOf(bundle.mode, bundle.pointers === undefined);
  const isSilent = bundle.mode === 'omit' && bundle.pointers === undefined;
  const inputs = new Set(markedMembers(bundle.inputs, isMark));
  const configurable = new Set(markedMembers(bundle.configurable, isMark));
  const events = new Map<number, Set<string>>();
  const note = (seq: number, slot: string): void => {
    const known = events.get(seq);
    if (known === undefined) events.set(seq, new Set([slot]));
    else known.add(slot);
  };

  for (const pointer of bundle.pointers ?? []) {
    const [first, second, third, ...rest] = segmentsOf(pointer);
    if (first === 'run' && second === 'inputs' && third !== undefined) inputs.add(third);
    if (first === 'run' && second === 'configurable' && third !== undefined) configurable.add(third);
    if (first === 'events' && (third === 'payload' || third === 'data')) note(Number(second), slotOf(rest));
  }
  for (const event of bundle.events) {
    for (const slot of markedSlots(event, isMark, isSilent)) note(event.seq, slot);
  }
  return {
    inputs: [...inputs].sort(),
    configurable: [...configurable].sort(),
    events: Object.fromEntries([...events].map(([seq, slots]) => [seq, [...slots].sort()])),
    isSilent,
  };
}

type IsMark = (value: Json) => boolean;

const OUR_MARK = /\[REDACTED(?::[^\]]*)?\]/;
const FOREIGN_MARK = /\[(?:redacted|masked|hidden|omitted)(?::[^\]]*)?\]|<(?:redacted|masked)>|\*{3,}|•{3,}/i;
const HASH_MARK = /^(?:sha-?256:)?[0-9a-f]{64}$/i;

function markOf(mode: MaskingMode, isForeign: boolean): IsMark {
  const mark = isForeign ? FOREIGN_MARK : OUR_MARK;
  return (value) => {
    if (value === null) return mode === 'omit' && isForeign;
    if (typeof value !== 'string') return false;
    return mark.test(value) || (mode === 'hash' && HASH_MARK.test(value));
  };
}

function isMarked(value: Json, isMark: IsMark): boolean {
  if (Array.isArray(value)) return value.some((item) => isMarked(item, isMark));
  if (!isJsonObject(value)) return isMark(value);
  return Object.entries(value).some(([name, member]) => isMark(name) || isMarked(member, isMark));
}

function markedMembers(object: JsonObject, isMark: IsMark): string[] {
  return Object.keys(object).filter((name) => isMarked(object[name] ?? null, isMark));
}

function markedSlots(event: StoredEvent, isMark: IsMark, isSilent: boolean): string[] {
  const payload = JSON.parse(event.payload) as Json;
  if (!isJsonObject(payload)) return [];
  const slots: string[] = [];
  for (const [name, value] of Object.entries(payload)) {
    if (name === 'outputs' && isJsonObject(value)) {
      slots.push(...markedMembers(value, isMark).map((port) => slotOf(['outputs', port])));
    } else if (isMarked(value, isMark)) slots.push(slotOf([name]));
  }
  const [wanted] = isSilent ? (EXPECTED[event.type] ?? []) : [];
  if (wanted !== undefined && payload[wanted] === undefined) slots.push(slotOf([wanted]));
  return slots;
}

/** Members that are there unless they were left out. */
const EXPECTED: Readonly<Record<string, readonly [string] | undefined>> = {
  'node.completed': ['outputs'],
  'variable.changed': ['next'],
  'channel.written': ['value'],
};

/** Outputs are told apart by port, everything else by member. */
function slotOf(segments: readonly string[]): string {
  const kept = segments.slice(0, segments[0] === 'outputs' ? 2 : 1);
  return kept.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function segmentsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
