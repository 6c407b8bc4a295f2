import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { StoredEvent } from '../../ports/store.ts';
import type { MaskingMode } from '../compile/plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/**
 * Where a bundle holds a mark instead of a value. What is counted are slots, the smallest places that a person can name: an
 * input, a variable's new value, one output of a node. A mark anywhere inside makes the whole slot unknown.
 *
 * The list that our own bundles carry is covered by their signature, but not by their digest, so the marks themselves are
 * looked for as well. Where the list names the inputs as a whole, some of them may be missing without a trace.
 */
export interface MaskedSlots {
  readonly inputs: readonly string[];
  readonly configurable: readonly string[];
  /** By sequence: JSON Pointers into the payload. */
  readonly events: Readonly<Record<string, readonly string[]>>;
  /** Names were left out together with their values, so inputs may be missing of which nothing is known. */
  readonly isSilent: boolean;
  /** The same, as exactly as the bundle states it, for bundles of the imported run. */
  readonly places?: MaskedPlaces;
}

export interface MaskedPlaces {
  /** JSON Pointers into the bundle, to what is not an event. */
  readonly run: readonly string[];
  /** By sequence: JSON Pointers into the payload. */
  readonly events: Readonly<Record<string, readonly string[]>>;
}

export interface MarkedBundle {
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly events: readonly StoredEvent[];
  readonly mode: MaskingMode;
  /** JSON Pointers that the bundle itself gives; undefined for bundles of other hosts. */
  readonly pointers: readonly string[] | undefined;
}

export function* findMaskedSlots(bundle: MarkedBundle): CooperativeTask<MaskedSlots> {
  const pointers = bundle.pointers ?? [];
  const isMark = markOf(bundle.mode, bundle.pointers === undefined);
  const leavesOutNames = bundle.mode === 'omit' && bundle.pointers === undefined;
  const { slots, exact } = listedPlaces(pointers, bundle.events.length);
  for (const event of bundle.events) {
    yield;
    for (const slot of markedSlots(event, isMark, leavesOutNames)) {
      slots.add(event.seq, slot);
      if (!exact.reaches(event.seq, slot)) exact.add(event.seq, slot);
    }
  }
  const found = {
    inputs: union(listedMembers(pointers, 'inputs'), markedMembers(bundle.inputs, isMark)),
    configurable: union(listedMembers(pointers, 'configurable'), markedMembers(bundle.configurable, isMark)),
    events: slots.all(),
    isSilent: leavesOutNames || pointers.includes(ALL_INPUTS),
  };
  const ofOthers = pointers.filter((pointer) => /^\/(?:run|weft)\//.test(pointer));
  const run = [...new Set([...ofOthers, ...ofRun(found)])];
  return { ...found, places: { run, events: exact.all() } };
}

function listedPlaces(pointers: readonly string[], length: number): { slots: Places; exact: Places } {
  const [slots, exact] = [createPlaces(length), createPlaces(length)];
  for (const pointer of pointers) {
    const [first, second, third, ...rest] = segmentsOf(pointer);
    if (first !== 'events' || (third !== 'payload' && third !== 'data')) continue;
    slots.add(Number(second), slotOf(rest));
    exact.add(Number(second), rest.map(escaped).join(''));
  }
  return { slots, exact };
}

function listedMembers(pointers: readonly string[], member: 'inputs' | 'configurable'): string[] {
  return pointers.flatMap((pointer) => {
    const [first, second, name] = segmentsOf(pointer);
    return first === 'run' && second === member && name !== undefined ? [name] : [];
  });
}

function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

/** Where a bundle would say so; imports stored before places were recorded have slots only. */
export function placesOf(masks: MaskedSlots): MaskedPlaces {
  return masks.places ?? { run: ofRun(masks), events: masks.events };
}

const ALL_INPUTS = '/run/inputs';

function ofRun({
  inputs,
  configurable,
  isSilent,
}: Pick<MaskedSlots, 'inputs' | 'configurable' | 'isSilent'>): string[] {
  return [
    ...inputs.map((name) => `${ALL_INPUTS}${escaped(name)}`),
    ...configurable.map((name) => `/run/configurable${escaped(name)}`),
    ...(isSilent ? [ALL_INPUTS] : []),
  ];
}

interface Places {
  /** Nothing happens for an event that is not there: the list is someone else's. */
  add(seq: number, pointer: string): void;
  /** Whether the place itself or something inside is among them. */
  reaches(seq: number, pointer: string): boolean;
  all(): Record<string, string[]>;
}

function createPlaces(length: number): Places {
  const bySeq = new Map<number, Set<string>>();
  return {
    add(seq, pointer) {
      if (!Number.isInteger(seq) || seq < 0 || seq >= length) return;
      const known = bySeq.get(seq);
      if (known === undefined) bySeq.set(seq, new Set([pointer]));
      else known.add(pointer);
    },
    reaches: (seq, pointer) =>
      [...(bySeq.get(seq) ?? [])].some((known) => known === pointer || known.startsWith(`${pointer}/`)),
    all: () => Object.fromEntries([...bySeq].map(([seq, pointers]) => [seq, [...pointers].sort()])),
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

function markedSlots(event: StoredEvent, isMark: IsMark, leavesOutNames: boolean): string[] {
  const payload = JSON.parse(event.payload) as Json;
  if (!isJsonObject(payload)) return [];
  const slots: string[] = [];
  for (const [name, value] of Object.entries(payload)) {
    if (name === 'outputs' && isJsonObject(value)) {
      slots.push(...markedMembers(value, isMark).map((port) => slotOf(['outputs', port])));
    } else if (isMarked(value, isMark)) slots.push(slotOf([name]));
  }
  const [wanted] = leavesOutNames ? (EXPECTED[event.type] ?? []) : [];
  if (wanted !== undefined && payload[wanted] === undefined) slots.push(slotOf([wanted]));
  return slots;
}

/** Members that are there unless they were left out. */
const EXPECTED: Readonly<Record<string, readonly [string] | undefined>> = {
  'node.completed': ['outputs'],
  'variable.changed': ['next'],
  'channel.written': ['value'],
};

/** A slot is an output port, or a member of anything else. */
function slotOf(segments: readonly string[]): string {
  const kept = segments.slice(0, segments[0] === 'outputs' ? 2 : 1);
  return kept.map(escaped).join('');
}

function escaped(segment: string): string {
  return `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function segmentsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
