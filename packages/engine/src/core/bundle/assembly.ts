import { BUNDLE_VERSION, EVENT_SCHEMA_VERSION, eventId, type JsonObject, toIso } from '@weft/protocol';
import type { Ed25519Key } from '../../crypto/ed25519.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { asRunEvent, type RunEvent } from '../../model/run-event.ts';
import { privatePayload } from '../fold/overlay.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import { canonicalUtf8Text, utf8Bytes } from '../json/canonical-utf8-text.ts';
import { redactCredentialsIn } from './encoded-credentials.ts';
import { type FixedSource, fixedParts, pointerBytes } from './fixed-parts.ts';
import { maskedPointers } from './masked-pointers.ts';
import { withSignature } from './signature.ts';
import { createSpanProjection } from './spans.ts';

/**
 * A debug bundle as text, piece by piece: `open`, then `add` for each event of the log in order, then `close`.
 *
 * 1. The text is its own canonical form (RFC 8785): members stand in the order of their names, and `weft` is the last of them.
 *    So the digest of the bundle without `weft` is a running hash over what has been written, closed with a brace; the
 *    bundle is never in memory as a whole.
 * 2. It never exceeds `maxBytes`. What is known beforehand is measured first; each event then pays for itself, for the spans
 *    it begins or ends and for the pointers to what was masked in it. The first event that cannot pay ends the log: what
 *    is there is a strict prefix, and the spans are those of this prefix.
 * 3. Events take at most seven eighths of the bytes.
 * 4. Nothing gets in that did not go through the redaction.
 */
export interface BundleAssembly {
  /** How many events are wanted at most. */
  readonly limit: number;
  open(): string;
  /** Undefined when the event does not fit; then only `close` may follow. */
  add(event: StoredEvent): string | undefined;
  close(): string;
}

export interface BundleSource extends FixedSource {
  readonly generatedAt: number;
  readonly host: { readonly name: string; readonly version: string; readonly vendor?: string };
  /** Length of the log. */
  readonly totalEvents: number;
  /** Nodes the fold knows, for runs of which not every event comes along. */
  readonly nodeIds: Iterable<string>;
}

export interface RunningHash {
  update(text: string): void;
  hex(): string;
}

export interface BundleOptions {
  readonly maxBytes: number;
  readonly maxEvents?: number;
  readonly hash: RunningHash;
  /** Without one the bundle is not signed. */
  readonly key?: Ed25519Key;
}

/** For the names of members, totals and what one event can add to the spans. */
const SLACK_BYTES = 16 * 1024;

/** Masking what is known beforehand takes long for a large run, so it is done in steps. */
export function* createBundleAssembly(
  source: BundleSource,
  options: BundleOptions,
): CooperativeTask<BundleAssembly> {
  const { record, redaction, totalEvents } = source;
  const { maxBytes, hash } = options;
  const slack = Math.min(SLACK_BYTES, maxBytes / 16);
  const fixed = yield* fixedParts(source, maxBytes / 2);
  const room = maxBytes - fixed.bytes - slack;
  const eventRoom = Math.min(room, maxBytes - maxBytes / 8);
  const limit = Math.min(options.maxEvents ?? totalEvents, totalEvents);

  const spans = createSpanProjection(record);
  const nodes = new Set(source.nodeIds);
  const masked = [...fixed.masked];
  let events = 0;
  let eventBytes = 0;
  let maskedBytes = 0;
  let isFull = false;

  function written(text: string): string {
    hash.update(text);
    return text;
  }

  function open(): string {
    const annotations = fixed.annotations.map(canonicalUtf8Text).join(',');
    return written(`{"annotations":[${annotations}],"bundleVersion":"${BUNDLE_VERSION}","events":[`);
  }

  function add(event: StoredEvent): string | undefined {
    if (events >= limit || isFull) return undefined;
    const payload = JSON.parse(event.payload) as JsonObject;
    const shown = redaction.payload(payload, event.payload);
    const text = `${events === 0 ? '' : ','}${eventText(source, event, canonicalUtf8Text(shown))}`;
    const whole = privatePayload(event);
    const original = whole === undefined ? payload : (JSON.parse(whole) as JsonObject);
    const pointers = pointersInto(event.seq, original, shown);
    const bytes = utf8Bytes(text);
    const pointing = pointerBytes(pointers);
    isFull =
      eventBytes + bytes > eventRoom ||
      eventBytes + bytes + maskedBytes + pointing + spans.size + slack / 2 > room;
    if (isFull) return undefined;

    events += 1;
    eventBytes += bytes;
    maskedBytes += pointing;
    for (const pointer of pointers) masked.push(pointer);
    if (event.nodeId !== undefined) nodes.add(event.nodeId);
    spans.see(toRunEvent(event, shown));
    return written(text);
  }

  function pointersInto(seq: number, original: JsonObject, shown: JsonObject): string[] {
    const options = { hashes: redaction.mode === 'hash', shownName: redaction.text };
    const before = (source.maskedBefore?.events[seq] ?? []).map(redaction.text);
    const inPayload = new Set([...maskedPointers(original, shown, { ...options, base: '' }), ...before]);
    return ['data', 'payload'].flatMap((name) =>
      [...inPayload].map((pointer) => `/events/${events}/${name}${pointer}`),
    );
  }

  /** A run that passes its values through is reported as such only if nothing had to be masked after all. */
  function reportedRedaction(): JsonObject {
    if (redaction.mode !== 'passthrough') return { redactionApplied: true, redactionMode: redaction.mode };
    const applied = masked.length > 0;
    return { redactionApplied: applied, redactionMode: applied ? 'mask' : 'passthrough' };
  }

  function truncation(): JsonObject {
    if (events >= totalEvents) return {};
    const reason = isFull ? 'events_truncated_to_size_cap' : 'events_truncated_to_max_events';
    return { truncated: true, truncatedReason: reason };
  }

  function close(): string {
    const shownSpans = spans.spans().map((span) => redactCredentialsIn(span as unknown as JsonObject));
    const rest: JsonObject = {
      generatedAt: toIso(source.generatedAt),
      host: { ...source.host },
      metrics: {
        eventCount: totalEvents,
        nodeCount: nodes.size,
        openwopCost: source.snapshot.metrics?.openwopCost ?? null,
      },
      ...reportedRedaction(),
      run: fixed.run,
      spans: shownSpans,
      ...truncation(),
    };
    const body = written(`],${canonicalUtf8Text(rest).slice(1, -1)}`);
    hash.update('}');
    const extras: JsonObject = {
      digest: hash.hex(),
      definitionDigest: record.definitionDigest,
      ...(fixed.definition !== undefined && { definition: fixed.definition }),
      masked,
      ...(fixed.omitted.length > 0 && { omitted: [...fixed.omitted] }),
      totals: {
        annotations: source.annotations.length,
        events: totalEvents,
        masked: masked.length,
        nodes: nodes.size,
        spans: shownSpans.length,
      },
    };
    const shownExtras = options.key === undefined ? extras : withSignature(extras, options.key);
    return `${body},"weft":${canonicalUtf8Text(shownExtras)}}`;
  }

  return { limit, open, add, close };
}

/** The event's document with its payload under both names, members in canonical order; the payload is serialized once. */
function eventText(source: BundleSource, event: StoredEvent, payload: string): string {
  const { runId, engineVersion } = source.record;
  const { seq, nodeId, causeSeq } = event;
  const outside = seq === 0 ? source.record.source?.deliveryId : undefined;
  const causationId = causeSeq === undefined ? outside : eventId(runId, causeSeq);
  const cause = causationId === undefined ? '' : `"causationId":${canonicalUtf8Text(causationId)},`;
  const node = nodeId === undefined ? '' : `"nodeId":${canonicalUtf8Text(nodeId)},`;
  return (
    `{${cause}"data":${payload},"engineVersion":"${engineVersion}","eventId":${canonicalUtf8Text(eventId(runId, seq))},` +
    `${node}"payload":${payload},"runId":${canonicalUtf8Text(runId)},"schemaVersion":${EVENT_SCHEMA_VERSION},` +
    `"sequence":${seq},"timestamp":"${toIso(event.at)}","type":${canonicalUtf8Text(event.type)}}`
  );
}

function toRunEvent(event: StoredEvent, payload: JsonObject): RunEvent {
  const { seq, at, type, nodeId } = event;
  return asRunEvent({ seq, at, type, payload, ...(nodeId !== undefined && { nodeId }) });
}
