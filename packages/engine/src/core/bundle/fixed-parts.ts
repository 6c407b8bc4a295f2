import { type Annotation, isJsonObject, type Json, type JsonObject, type RunSnapshot } from '@weft/protocol';
import type { MaskedPlaces } from '../import/masked-slots.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { BundleRedaction } from './bundle-redaction.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import { maskedList, maskedMember, unmaskedRun } from './bundle-run.ts';
import { canonicalUtf8Text, utf8Bytes } from '../json/canonical-utf8-text.ts';
import { maskedPointers } from './masked-pointers.ts';

/** Everything of a bundle that is known before the first event is read, masked and measured. */
export interface FixedParts {
  readonly run: JsonObject;
  readonly definition: Json | undefined;
  readonly annotations: readonly Json[];
  readonly masked: readonly string[];
  /** Pointers of what was too large to come along. */
  readonly omitted: readonly string[];
  readonly bytes: number;
}

export interface FixedSource {
  readonly record: CreationRecord;
  readonly snapshot: RunSnapshot;
  readonly definition: Json | undefined;
  /** Oldest first. */
  readonly annotations: readonly Annotation[];
  readonly redaction: BundleRedaction;
  /** Imported runs: what was masked before they came here. */
  readonly maskedBefore?: MaskedPlaces;
}

interface Part {
  value: Json;
  masked: string[];
  bytes: number;
}

const DEFINITION = '/weft/definition';

/** What can be had from the log, or done without, in the order in which it is given up. */
const EXPENDABLE = [
  '/run/nodeStates',
  DEFINITION,
  '/run/outputs',
  '/run/channels',
  '/run/variables',
  '/run/metadata',
  '/run/configurable',
  '/run/inputs',
];

/**
 * Takes at most `maxBytes`: annotations are kept to an eighth of it, the newest ones; then, if it must be, parts of the run and
 * the definition are left out. What is too large as it is, is not masked first: that would be much work for nothing.
 */
export function* fixedParts(source: FixedSource, maxBytes: number): CooperativeTask<FixedParts> {
  const { redaction, record, definition } = source;
  const maskedBefore = byPart((source.maskedBefore?.run ?? []).map(redaction.text));
  const partOf = (base: string, before: Json, after: Json): Part => {
    const found = maskedPointers(before, after, {
      base,
      hashes: redaction.mode === 'hash',
      shownName: redaction.text,
    });
    const masked = [...new Set([...found, ...(maskedBefore.get(base) ?? [])])];
    return { value: after, masked, bytes: bytesOf(after, masked) };
  };
  const annotations = annotationParts(source, maxBytes / 8, partOf);
  const room = maxBytes - sum(annotations);

  const plain = new Map(
    Object.entries(unmaskedRun(source.snapshot, record)).map(([name, value]) => [`/run/${name}`, value]),
  );
  if (definition !== undefined) plain.set(DEFINITION, definition);
  const tooLarge = shed(plain, room, (value) => utf8Bytes(JSON.stringify(value)));
  const parts = new Map<string, Part>();
  for (const [pointer, value] of plain) {
    const after = yield* masked(pointer, value, source);
    parts.set(pointer, partOf(pointer, value, after));
    yield;
  }
  const stillTooLarge = shed(parts, room, (part) => part.bytes);

  const run = [...parts].filter(([pointer]) => pointer !== DEFINITION);
  const all = [...annotations, ...parts.values()];
  return {
    run: Object.fromEntries(run.map(([pointer, part]) => [pointer.slice('/run/'.length), part.value])),
    definition: parts.get(DEFINITION)?.value,
    annotations: annotations.map((part) => part.value),
    masked: all.flatMap((part) => part.masked),
    omitted: [...tooLarge, ...stillTooLarge],
    bytes: sum(all),
  };
}

function* masked(pointer: string, value: Json, { record, redaction }: FixedSource): CooperativeTask<Json> {
  if (pointer === DEFINITION) return yield* maskedDefinition(value, redaction);
  return yield* maskedMember(pointer.slice('/run/'.length), value, record, redaction);
}

/** Its lists, of nodes above all, are what is long in it. */
function* maskedDefinition(definition: Json, { authored }: BundleRedaction): CooperativeTask<Json> {
  if (!isJsonObject(definition)) return authored(definition);
  const lists: [string, Json][] = [];
  const others: [string, Json][] = [];
  for (const entry of Object.entries(definition)) (Array.isArray(entry[1]) ? lists : others).push(entry);
  const shown: JsonObject = { ...(authored(Object.fromEntries(others)) as JsonObject) };
  for (const [name, list] of lists) shown[name] = yield* maskedList(list as Json[], authored);
  return shown;
}

/** Only of parts that can be given up: the list is another host's and may be long. */
function byPart(pointers: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const pointer of pointers) {
    const part = pointer.split('/').slice(0, 3).join('/');
    if (!EXPENDABLE.includes(part)) continue;
    const known = found.get(part);
    if (known === undefined) found.set(part, [pointer]);
    else known.push(pointer);
  }
  return found;
}

/** Removes what can be done without until the rest fits; returns what was removed. */
function shed<Value>(parts: Map<string, Value>, room: number, bytes: (part: Value) => number): string[] {
  let total = 0;
  for (const part of parts.values()) total += bytes(part);
  const removed: string[] = [];
  for (const pointer of EXPENDABLE) {
    if (total <= room) break;
    const part = parts.get(pointer);
    if (part === undefined) continue;
    total -= bytes(part);
    parts.delete(pointer);
    removed.push(pointer);
  }
  return removed;
}

function annotationParts(
  { annotations, redaction }: FixedSource,
  maxBytes: number,
  partOf: (base: string, before: Json, after: Json) => Part,
): Part[] {
  let room = maxBytes;
  let first = annotations.length;
  const shown = annotations.map((annotation) => maskedAnnotation(annotation, redaction));
  while (first > 0) {
    room -= bytesOf(shown[first - 1] ?? null, []);
    if (room < 0) break;
    first -= 1;
  }
  return annotations
    .slice(first)
    .map((annotation, index) =>
      partOf(`/annotations/${index}`, annotation as unknown as Json, shown[first + index] ?? null),
    );
}

/** People's words are masked; who said it, about what and when stays. */
function maskedAnnotation(annotation: Annotation, redaction: BundleRedaction): Json {
  const { signal, note, ...rest } = annotation;
  return {
    ...rest,
    signal: {
      ...signal,
      ...(signal.label !== undefined && { label: redaction.text(signal.label) }),
      ...(signal.correction !== undefined && { correction: redaction.text(signal.correction) }),
    },
    ...(note !== undefined && { note: redaction.text(note) }),
  };
}

/** With room for the comma, the name and the pointers. */
function bytesOf(value: Json, masked: readonly string[]): number {
  return utf8Bytes(canonicalUtf8Text(value)) + 32 + pointerBytes(masked);
}

export function pointerBytes(masked: readonly string[]): number {
  return masked.length === 0 ? 0 : utf8Bytes(JSON.stringify(masked));
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((bytes, part) => bytes + part.bytes, 0);
}
