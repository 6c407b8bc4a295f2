import { type AsciiWriter, asciiWriter, type ByteSink } from '../bytes/ascii-writer.ts';
import type { CapabilityDiff, CrossRuntimeDiff, Diff } from './document.ts';
import { type Part, PARTS, partView, type SetDiff } from './set-diff.ts';
import {
  CANONICALIZATION,
  CAPABILITY_DIFF,
  CAPABILITY_SCOPE,
  CATEGORIES,
  CROSS_RUNTIME_DIFF,
  CROSS_SCOPE,
  NON_CLAIMS,
  OUT_OF_SCOPE,
  SIDE_BAND,
} from './vocabulary.ts';

/** A value of the envelope; sets are written straight from their tables. */
type Value = string | boolean | null | readonly Value[] | { readonly [key: string]: Value } | PartValue;

interface PartValue {
  readonly set: SetDiff;
  readonly part: Part;
}

/** The document of a diff, byte for byte as the contract has it, in pieces. */
export function writeDiff(diff: Diff, sink: ByteSink): void {
  const writer = asciiWriter(sink);
  writeValue(writer, envelope(diff), '\n');
  writer.raw('\n');
  writer.flush();
}

/** The same document as one string. It is ASCII, so its length is its size. */
export function renderDiff(diff: Diff): string {
  const decoder = new TextDecoder();
  let text = '';
  writeDiff(diff, (piece) => {
    text += decoder.decode(piece);
  });
  return text;
}

function envelope(diff: Diff): Value {
  return diff.contract === 'cross' ? crossEnvelope(diff) : capabilityEnvelope(diff);
}

function capabilityEnvelope(diff: CapabilityDiff): Value {
  return {
    schema: CAPABILITY_DIFF,
    base_run_id: diff.baseRunId,
    head_run_id: diff.headRunId,
    status: diff.status,
    preconditions: { ...diff.preconditions },
    scope: CAPABILITY_SCOPE,
    surface: surfaceOf(diff),
    binding_ids: parts(diff.bindingIds),
    policy_outcomes: { changed: diff.changedOutcomes.map((change) => ({ ...change })) },
    unbound: nothingUnbound(),
    ambiguities: [],
    notes: diff.notes,
  };
}

function crossEnvelope(diff: CrossRuntimeDiff): Value {
  return {
    schema: CROSS_RUNTIME_DIFF,
    base_run_id: diff.baseRunId,
    head_run_id: diff.headRunId,
    base_runtime: diff.baseRuntime,
    head_runtime: diff.headRuntime,
    status: diff.status,
    preconditions: { ...diff.preconditions },
    scope: CROSS_SCOPE,
    canonicalization: CANONICALIZATION,
    surface: surfaceOf(diff),
    binding_ids: { comparison: OUT_OF_SCOPE },
    policy_outcomes: { comparison: OUT_OF_SCOPE },
    sdk_metadata: { comparison: SIDE_BAND, base: { ...diff.baseSdk }, head: { ...diff.headSdk } },
    unbound: nothingUnbound(),
    non_claims: NON_CLAIMS,
    ambiguities: [],
    notes: diff.notes,
  };
}

function surfaceOf(diff: Diff): Value {
  return Object.fromEntries(CATEGORIES.map((category) => [category, parts(diff.surface[category])]));
}

function parts(set: SetDiff): Value {
  return Object.fromEntries(PARTS.map((part) => [part, { set, part }]));
}

function nothingUnbound(): Value {
  return Object.fromEntries(CATEGORIES.map((category) => [category, []]));
}

/** `margin`: a line break and the indent of the line that the value stands on. */
function writeValue(writer: AsciiWriter, value: Value, margin: string): void {
  if (value === null || typeof value === 'boolean') return writer.raw(String(value));
  if (typeof value === 'string') return writer.text(value);
  if (isList(value)) {
    return writeItems(writer, value, ['[', ']'], margin, (item, inner) => writeValue(writer, item, inner));
  }
  if (isPart(value)) return writePart(writer, value, margin);
  writeItems(writer, Object.entries(value), ['{', '}'], margin, ([key, item], inner) => {
    writer.text(key);
    writer.raw(': ');
    writeValue(writer, item, inner);
  });
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isPart(value: object): value is PartValue {
  return 'part' in value && 'set' in value;
}

function writeItems<Item>(
  writer: AsciiWriter,
  items: readonly Item[],
  brackets: readonly [string, string],
  margin: string,
  write: (item: Item, margin: string) => void,
): void {
  if (items.length === 0) return writer.raw(brackets.join(''));
  const inner = `${margin}  `;
  items.forEach((item, index) => {
    writer.raw(index === 0 ? `${brackets[0]}${inner}` : `,${inner}`);
    write(item, inner);
  });
  writer.raw(`${margin}${brackets[1]}`);
}

function writePart(writer: AsciiWriter, { set, part }: PartValue, margin: string): void {
  const { table, marks, wanted } = partView(set, part);
  const inner = `${margin}  `;
  let before = `[${inner}`;
  for (let index = 0; index < table.count; index += 1) {
    if (marks[index] !== wanted) continue;
    writer.raw(before);
    writer.value(table.bytes, table.starts[index] as number);
    before = `,${inner}`;
  }
  writer.raw(set.counts[part] === 0 ? '[]' : `${margin}]`);
}
