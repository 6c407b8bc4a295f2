import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { StoredEvent } from '../../ports/store.ts';
import { checkSignature, keyFingerprint } from '../bundle/signature.ts';
import { canonicalDigest } from '../json/canonical-digest.ts';
import type { MaskingMode } from '../compile/plan.ts';
import { pointer } from '../compile/problems.ts';
import { isTerminalEvent } from '../../model/run-event.ts';
import { finish, type CooperativeTask } from '../json/cooperative-task.ts';
import { checkEvents } from './check-events.ts';
import { findMaskedSlots, type MaskedSlots } from './masked-slots.ts';
import { type BundleAnnotation, readAnnotations } from './read-annotations.ts';
import { readEvents } from './read-events.ts';
import { nameAt, refuseBundle } from './refuse.ts';

/**
 * A debug bundle of any OpenWOP host, read and believed as far as it can be.
 *
 * 1. What contradicts itself is refused with the reason: a wrong digest or signature, a log with gaps, with something after its
 *    end, or with a step that cannot follow the one before.
 * 2. `verified` is said only of a bundle whose digest was checked, and its signature, if it has one. A digest shows that nothing
 *    was changed on the way, a signature which key wrote it; one of a kind that is not known here leaves the bundle unverified.
 * 3. What is masked stays masked: nothing here makes a value out of a mark.
 */
export interface ImportedBundle {
  /** SHA-256 of the whole bundle in canonical form. */
  readonly digest: string;
  readonly verified: boolean;
  /** Whose signature it carries; undefined for one that carries none, or none that can be checked. */
  readonly signer: BundleSigner | undefined;
  /** The run's id where it was executed. */
  readonly runId: string;
  readonly host: string | undefined;
  readonly workflowId: string;
  readonly workflowVersion: string | undefined;
  readonly definition: Definition;
  /** As the bundle shows it. */
  readonly run: JsonObject;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly metadata: JsonObject;
  readonly tags: readonly string[];
  readonly events: readonly StoredEvent[];
  /** Length of the original log. */
  readonly totalEvents: number;
  /** The bundle holds only the first part of the log. */
  readonly isCut: boolean;
  readonly masked: MaskedSlots;
  readonly annotations: readonly BundleAnnotation[];
}

export interface BundleSigner {
  /** SPKI, DER, base64. */
  readonly publicKey: string;
  readonly fingerprint: string;
}

export interface Definition {
  readonly digest: string | undefined;
  /** Only where it is whole: it has the digest that the bundle names. */
  readonly document: JsonObject | undefined;
}

const MODES: readonly MaskingMode[] = ['mask', 'omit', 'hash', 'passthrough'];

/** Throws HostError `bundle_invalid`. */
export function readBundle(document: Json): ImportedBundle {
  return finish(bundleCooperatively(document));
}

/** The same in short steps, so that the event loop stays free. */
export function* bundleCooperatively(document: Json): CooperativeTask<ImportedBundle> {
  if (!isJsonObject(document)) throw refuseBundle('', 'it is not a JSON object.');
  checkVersion(document['bundleVersion']);
  const run = objectAt(document, 'run');
  const events = yield* eventsOf(document);
  const extras = isJsonObject(document['weft']) ? document['weft'] : undefined;
  const hasDigest = yield* checkDigest(document, extras);
  const { isKnown, signer } = signatureOf(extras, hasDigest);
  const verified = hasDigest && isKnown;
  const status = textAt(run, 'status', '/run/status');
  const totalEvents = Math.max(events.length, eventCountOf(document));
  const hasEnd = events.some(({ type }) => isTerminalEvent(type));
  const isCut = !hasEnd && (document['truncated'] === true || totalEvents > events.length);
  yield* checkEvents(events, { isOurs: verified, status, isCut });
  const [inputs, configurable] = [namedObject(run, 'inputs'), namedObject(run, 'configurable')];
  const pointers = maskedPointersOf(extras);
  const definition = yield* definitionOf(extras, run, pointers ?? []);
  return {
    digest: yield* canonicalDigest(document),
    verified,
    signer,
    runId: textAt(run, 'runId', '/run/runId'),
    host: hostOf(document['host']),
    workflowId: textAt(run, 'workflowId', '/run/workflowId'),
    workflowVersion: versionOf(run, definition.document),
    definition,
    run,
    inputs,
    configurable,
    metadata: optionalObject(run['metadata']),
    tags: tagsOf(run),
    events,
    totalEvents: isCut ? totalEvents : events.length,
    isCut,
    masked: yield* findMaskedSlots({ inputs, configurable, events, mode: modeOf(document), pointers }),
    annotations: readAnnotations(document),
  };
}

/** The schema wants "1.0", the prose and most hosts say "1". */
function checkVersion(version: Json | undefined): void {
  if (typeof version === 'string' && /^1(?:\.\d+)?$/.test(version)) return;
  if (version === undefined) throw refuseBundle('/bundleVersion', 'bundleVersion is missing.');
  throw refuseBundle('/bundleVersion', 'its bundleVersion is not read here; versions 1 and 1.x are.');
}

function* eventsOf({ events }: JsonObject): CooperativeTask<StoredEvent[]> {
  if (!Array.isArray(events)) throw refuseBundle('/events', 'events is not a list.');
  return yield* readEvents(events);
}

/** True when the bundle carries a digest and it holds. */
function* checkDigest(
  { weft: _weft, ...covered }: JsonObject,
  extras: JsonObject | undefined,
): CooperativeTask<boolean> {
  if (extras === undefined || extras['digest'] === undefined) return false;
  if (extras['digest'] !== (yield* canonicalDigest(covered)))
    throw refuseBundle(
      '/weft/digest',
      'its digest does not fit: something was changed after it was written. Get the bundle again.',
    );
  return true;
}

/** A signature covers the digest, so it says nothing without one. */
function signatureOf(
  extras: JsonObject | undefined,
  hasDigest: boolean,
): { isKnown: boolean; signer: BundleSigner | undefined } {
  const check = checkSignature(extras ?? {});
  switch (check.state) {
    case 'absent':
      return { isKnown: true, signer: undefined };
    case 'unknown':
      return { isKnown: false, signer: undefined };
    case 'holds':
      if (!hasDigest) throw refuseBundle('/weft/digest', 'it is signed, but has no digest.');
      return {
        isKnown: true,
        signer: { publicKey: check.publicKey, fingerprint: keyFingerprint(check.publicKey) },
      };
    case 'wrong':
      throw refuseBundle(
        '/weft/signature',
        'its signature is wrong: it was changed after it was signed, or not signed with the key it names. Get the bundle again.',
      );
  }
}

function eventCountOf({ metrics }: JsonObject): number {
  const count = isJsonObject(metrics) ? metrics['eventCount'] : undefined;
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : 0;
}

function modeOf({ redactionMode }: JsonObject): MaskingMode {
  return MODES.find((mode) => mode === redactionMode) ?? 'mask';
}

function maskedPointersOf(extras: JsonObject | undefined): string[] | undefined {
  const { masked, omitted } = extras ?? {};
  if (!Array.isArray(masked)) return undefined;
  // Inputs that did not fit are missing with their names.
  const left = Array.isArray(omitted) && omitted.includes('/run/inputs') ? ['/run/inputs'] : [];
  return [...masked, ...left].filter((pointer) => typeof pointer === 'string');
}

function* definitionOf(
  extras: JsonObject | undefined,
  run: JsonObject,
  pointers: readonly string[],
): CooperativeTask<Definition> {
  const named = extras?.['definitionDigest'];
  const covered = optionalObject(run['weft'])['definitionDigest'];
  if (typeof named === 'string' && typeof covered === 'string' && named !== covered)
    throw refuseBundle('/weft/definitionDigest', 'it names two definitions.');
  const digest = typeof covered === 'string' ? covered : typeof named === 'string' ? named : undefined;
  const document = extras?.['definition'];
  if (!isJsonObject(document)) return { digest, document: undefined };
  const actual = yield* canonicalDigest(document);
  if (digest === undefined || digest === actual) return { digest: actual, document };
  if (pointers.some((pointer) => pointer.startsWith('/weft/definition'))) {
    return { digest, document: undefined };
  }
  throw refuseBundle('/weft/definition', 'its definition is not the one whose digest it names.');
}

function versionOf(run: JsonObject, definition: JsonObject | undefined): string | undefined {
  const version = optionalObject(run['weft'])['workflowVersion'] ?? definition?.['version'];
  return typeof version === 'string' ? nameAt('/run/weft/workflowVersion', version) : undefined;
}

function tagsOf({ tags }: JsonObject): string[] {
  if (!Array.isArray(tags)) return [];
  return tags.flatMap((tag, index) => (typeof tag === 'string' ? [nameAt(`/run/tags/${index}`, tag)] : []));
}

function hostOf(host: Json | undefined): string | undefined {
  const { name, version } = optionalObject(host);
  if (typeof name !== 'string') return undefined;
  nameAt('/host/name', name);
  return typeof version === 'string' ? `${name} ${nameAt('/host/version', version)}` : name;
}

function objectAt(document: JsonObject, name: string): JsonObject {
  const value = document[name];
  if (isJsonObject(value)) return value;
  throw refuseBundle(`/${name}`, `${name} is not an object.`);
}

function textAt(object: JsonObject, name: string, field: string): string {
  const value = object[name];
  if (typeof value === 'string' && value !== '' && value.length <= MAX_ID) return nameAt(field, value);
  throw refuseBundle(field, `${name} must be a text of 1 to ${MAX_ID} characters.`);
}

const MAX_ID = 256;

/** Values by name: of inputs, and of options. */
function namedObject(run: JsonObject, member: 'inputs' | 'configurable'): JsonObject {
  const values = optionalObject(run[member]);
  for (const name of Object.keys(values)) nameAt(pointer('run', member, name), name);
  return values;
}

function optionalObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
