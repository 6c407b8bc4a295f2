import { canonicalText } from '@weft/engine/compare';
import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '@weft/protocol/plain';
import type { RunDocument, RunEventDocument, WorkflowDefinition } from '@weft/sdk';

/** A debug bundle of any OpenWOP host, read in the page: nothing of it is sent anywhere. */
export interface OpenedBundle {
  readonly runId: string;
  readonly workflowId: string;
  readonly status: string;
  readonly run: RunDocument;
  readonly events: readonly RunEventDocument[];
  readonly definition: WorkflowDefinition | undefined;
  /** The log continues where the bundle ends. */
  readonly isPartial: boolean;
  /** `holds`: nothing was changed since it was written. `unknown`: it carries no digest, or this page may not compute one. */
  readonly digest: 'holds' | 'unknown';
}

/** Hosts keep bundles to 8 MiB; some let them grow. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Throws an Error that says what is wrong with the file. */
export async function openBundleFile(file: Blob): Promise<OpenedBundle> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 64 MiB, too large for a bundle.');
  return readBundleText(await textOf(file), sha256());
}

async function textOf(file: Blob): Promise<string> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return await file.text();
  return await boundedText(file.stream().pipeThrough(new DecompressionStream('gzip')));
}

/** Packed text may be far longer than its file. */
async function boundedText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length <= MAX_BYTES) continue;
    await reader.cancel();
    throw new Error('Unpacked, the file is larger than 64 MiB, too large for a bundle.');
  }
}

export type Sha256 = (text: string) => Promise<string>;

/** Browsers compute digests only for pages from https or from the machine itself. */
function sha256(): Sha256 | undefined {
  const { subtle } = crypto;
  if (subtle === undefined) return undefined;
  return async (text) => {
    const bytes = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  };
}

export async function readBundleText(text: string, digestOf: Sha256 | undefined): Promise<OpenedBundle> {
  const document = parsed(text);
  const { run, bundleVersion } = document;
  if (typeof bundleVersion !== 'string' || !/^1(?:\.\d+)?$/.test(bundleVersion))
    throw new Error('It is not a debug bundle of version 1: bundleVersion is missing or another.');
  if (!isJsonObject(run)) throw new Error('It is not a debug bundle: run is not an object.');
  const events = eventsOf(document['events']);
  const extras = isJsonObject(document['weft']) ? document['weft'] : {};
  const definition = extras['definition'];
  return {
    runId: nameAt(run, 'runId'),
    workflowId: nameAt(run, 'workflowId'),
    status: nameAt(run, 'status'),
    run: snapshotOf(run),
    events,
    definition: isDefinition(definition) ? definition : undefined,
    isPartial: document['truncated'] === true,
    digest: await digestState(document, extras['digest'], digestOf),
  };
}

/** The run of a bundle is a snapshot with additional members. */
export function snapshotOf(run: JsonObject): RunDocument {
  return run as JsonObject & RunDocument;
}

/** Enough of one to be drawn. */
function isDefinition(value: Json | undefined): value is JsonObject & WorkflowDefinition {
  return isJsonObject(value) && Array.isArray(value['nodes']) && Array.isArray(value['edges']);
}

function parsed(text: string): JsonObject {
  let document: Json;
  try {
    document = parseStrictJson(text);
  } catch (cause) {
    throw new Error(`It is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (!isJsonObject(document)) throw new Error('It is not a debug bundle: it is not a JSON object.');
  return document;
}

async function digestState(
  { weft: _weft, ...covered }: JsonObject,
  named: Json | undefined,
  digestOf: Sha256 | undefined,
): Promise<OpenedBundle['digest']> {
  if (named === undefined || digestOf === undefined) return 'unknown';
  if ((await digestOf(canonicalText(covered))) === named) return 'holds';
  throw new Error(
    'Its digest does not fit: something was changed after it was written. Get the bundle again.',
  );
}

const TERMINAL: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.cancelled']);

function eventsOf(entries: Json | undefined): RunEventDocument[] {
  if (!Array.isArray(entries)) throw new Error('It is not a debug bundle: events is not a list.');
  const events = entries.map(eventOf);
  for (const [index, { sequence, type }] of events.entries()) {
    if (sequence !== index)
      throw new Error(`Its log has a gap: event ${index} has the sequence ${sequence}.`);
    if (TERMINAL.has(type) && index < events.length - 1)
      throw new Error(`Its log continues after ${type} at ${index}.`);
  }
  return events;
}

/** Older hosts write `seq` and `data`. */
function eventOf(entry: Json, index: number): RunEventDocument {
  const { sequence, seq, type, timestamp, payload, data, nodeId, eventId, runId } = isJsonObject(entry)
    ? entry
    : {};
  const place = sequence ?? seq;
  if (typeof place !== 'number' || typeof type !== 'string')
    throw new Error(`Event ${index} has no sequence or no type.`);
  return {
    eventId: String(eventId ?? ''),
    runId: String(runId ?? ''),
    sequence: place,
    type,
    timestamp: String(timestamp ?? ''),
    payload: payload ?? data ?? null,
    ...(typeof nodeId === 'string' && { nodeId }),
  };
}

function nameAt(run: JsonObject, name: string): string {
  const value = run[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`It is not a debug bundle: run.${name} is missing.`);
}
