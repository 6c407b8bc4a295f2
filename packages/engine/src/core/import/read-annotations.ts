import {
  AnnotationCreateSchema,
  compileValidator,
  isJsonObject,
  isName,
  type Json,
  type JsonObject,
} from '@weft/protocol';
import { redactDeep } from '../redaction/scan/credential-text.ts';

/**
 * What people said about the run where it was executed. They are no part of the log, so an annotation that this host would not
 * have accepted (of another shape, too long, without a time) is left out and does not stop the import.
 */
export interface BundleAnnotation {
  readonly annotationId: string;
  /** The event that is meant, where the bundle holds it. */
  readonly seq?: number;
  readonly nodeId?: string;
  readonly signal: JsonObject;
  /** Of the other host: no one who is known here. */
  readonly principal: string;
  readonly note?: string;
  readonly createdAt: number;
}

/** As many as a run of this host may have; the newest ones. */
const MAX_ANNOTATIONS = 1_000;
const MAX_BYTES = 1024 * 1024;
const MAX_NAME = 256;

const problemsOf = compileValidator(AnnotationCreateSchema);

/** In the order of the bundle. */
export function readAnnotations({ annotations, events }: JsonObject): BundleAnnotation[] {
  if (!Array.isArray(annotations)) return [];
  const seqOf = sequences(Array.isArray(events) ? events : []);
  const kept: BundleAnnotation[] = [];
  let bytes = 0;
  for (const entry of annotations.toReversed()) {
    const read = isJsonObject(entry) ? readAnnotation(entry, seqOf) : undefined;
    if (read === undefined) continue;
    bytes += Buffer.byteLength(JSON.stringify(read), 'utf8');
    if (kept.length >= MAX_ANNOTATIONS || bytes > MAX_BYTES) break;
    kept.push(read);
  }
  return kept.reverse();
}

function readAnnotation(
  { annotationId, target, signal, actor, note, createdAt }: JsonObject,
  seqOf: ReadonlyMap<string, number>,
): BundleAnnotation | undefined {
  const at = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  const principal = isJsonObject(actor) ? actor['principalRef'] : undefined;
  if (!isShortName(annotationId) || !isShortName(principal) || Number.isNaN(at)) return undefined;
  const said = {
    signal: signalOf(isJsonObject(signal) ? signal : {}),
    ...(typeof note === 'string' && { note: redactDeep(note) }),
  };
  if (problemsOf(said).length > 0) return undefined;
  const { eventId, nodeId } = isJsonObject(target) ? target : {};
  const seq = typeof eventId === 'string' ? seqOf.get(eventId) : undefined;
  return {
    annotationId,
    ...(seq !== undefined && { seq }),
    ...(isShortName(nodeId) && { nodeId }),
    ...said,
    principal,
    createdAt: at,
  };
}

/** Of its kind's own member alone. */
function signalOf({ kind, ...members }: JsonObject): JsonObject {
  if (typeof kind !== 'string') return {};
  const value = members[kind];
  if (value === undefined) return { kind };
  return { kind, [kind]: typeof value === 'string' ? redactDeep(value) : value };
}

function sequences(events: readonly Json[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const event of events) {
    const { eventId, sequence, seq } = isJsonObject(event) ? event : {};
    const number = sequence ?? seq;
    if (typeof eventId === 'string' && typeof number === 'number') found.set(eventId, number);
  }
  return found;
}

function isShortName(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME && isName(value);
}
