import type { Annotation, Json, JsonObject, RunSnapshot } from '@weft/protocol';
import type { CreationRecord } from '../run-state.ts';
import type { BundleRedaction } from './bundle-redaction.ts';
import { bundleRun } from './bundle-run.ts';
import { canonicalText, utf8Bytes } from './canonical-text.ts';
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
}

interface Part {
  value: Json;
  masked: string[];
  bytes: number;
}

/** Members of the run that can be had from the log, or do without, in the order in which they are given up. */
const EXPENDABLE = ['nodeStates', 'outputs', 'channels', 'variables', 'metadata', 'configurable', 'inputs'];

/**
 * Takes at most `maxBytes`: first annotations are kept to an eighth of it, the newest ones; then, if it must be, parts of the
 * run and the definition are left out.
 */
export function fixedParts(source: FixedSource, maxBytes: number): FixedParts {
  const { redaction, record } = source;
  const partOf = (base: string, before: Json, after: Json): Part => {
    const masked = maskedPointers(before, after, {
      base,
      hashes: redaction.mode === 'hash',
      shownName: redaction.text,
    });
    return { value: after, masked, bytes: bytesOf(after, masked) };
  };

  const { before, after } = bundleRun(source.snapshot, record, redaction);
  const run = new Map(
    Object.entries(after).map(([name, value]) => [name, partOf(`/run/${name}`, before[name] ?? null, value)]),
  );
  const annotations = annotationParts(source, maxBytes / 8, partOf);
  let definition =
    source.definition === undefined
      ? undefined
      : partOf('/weft/definition', source.definition, redaction.authored(source.definition));

  const omitted: string[] = [];
  const total = (): number =>
    sum([...run.values(), ...annotations, ...(definition === undefined ? [] : [definition])]);
  for (const name of EXPENDABLE) {
    if (total() <= maxBytes) break;
    if (name === 'outputs' && definition !== undefined) {
      omitted.push('/weft/definition');
      definition = undefined;
      if (total() <= maxBytes) break;
    }
    if (run.delete(name)) omitted.push(`/run/${name}`);
  }

  return {
    run: Object.fromEntries([...run].map(([name, part]) => [name, part.value])),
    definition: definition?.value,
    annotations: annotations.map((part) => part.value),
    masked: [...annotations, ...run.values(), ...(definition === undefined ? [] : [definition])].flatMap(
      (part) => part.masked,
    ),
    omitted,
    bytes: total(),
  };
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
  return utf8Bytes(canonicalText(value)) + 32 + pointerBytes(masked);
}

export function pointerBytes(masked: readonly string[]): number {
  return masked.length === 0 ? 0 : utf8Bytes(JSON.stringify(masked));
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((bytes, part) => bytes + part.bytes, 0);
}
