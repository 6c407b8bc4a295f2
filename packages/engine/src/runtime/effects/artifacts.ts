import { createHash } from 'node:crypto';
import { isName } from '@weft/protocol';
import type { ArtifactSummary, Host } from '../../host/host.ts';
import { type ArtifactRef, type Artifacts, type NewArtifact, NodeFailure } from '../../model/node-type.ts';
import type { BlobUnit, DocumentUnit, Store } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { EffectPlace } from '../../ports/effect-ports.ts';
import type { MaskFor } from './memory.ts';
import type { SecretMask } from '../secrets/mask.ts';

/**
 * Results too large for the log. The bytes are streamed into pieces under an id that no one knows yet; the document that
 * names them is written last. So:
 *
 * W-30. A readable artifact is complete: its size and digest are those of its bytes.
 * W-31. An artifact never changes. An effect that is performed again after a crash gets the one that already exists.
 * W-32. A partly written artifact is not visible, and is deleted with its run.
 */
export interface ArtifactDependencies {
  readonly write: (unit: Omit<DocumentUnit, 'batchId'> | Omit<BlobUnit, 'batchId'>) => Promise<WriteAnswer>;
  readonly store: ArtifactReads;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: RandomBytes;
  readonly maxBytes: number;
}

type ArtifactReads = Pick<Store, 'readRun' | 'readDocument' | 'readBlob'>;

/** `exists`: there was a document already, and only a new one was wanted. */
export type WriteAnswer = 'written' | 'exists';

const ARTIFACTS = 'artifact';
const PIECE_BYTES = 256 * 1024;
const MAX_NAME = 200;
const MAX_ID = 512;
/** A fork of a fork of a fork: how far an artifact is looked for in the runs a run came from. */
const MAX_FORKS = 32;

interface StoredArtifact extends ArtifactRef {
  readonly name: string;
  readonly nodeKey: string;
  readonly blobId: string;
  readonly pieces: number;
}

export function openArtifacts(
  dependencies: ArtifactDependencies,
  place: EffectPlace,
  maskFor: MaskFor,
): Artifacts {
  const { store, clock, random, write } = dependencies;
  const { tenant, runId, nodeKey, attempt } = place;
  const used = new Set<string>();

  async function find(artifactId: string): Promise<ArtifactRef | undefined> {
    const document = await store.readDocument({
      tenant,
      collection: ARTIFACTS,
      scope: runId,
      id: artifactId,
    });
    return document === undefined ? undefined : refOf(JSON.parse(document.body) as StoredArtifact);
  }

  return {
    async put(artifact) {
      const mask = maskFor(artifact.sensitive);
      const name = mask.text(artifact.name);
      checkName(name, used);
      const artifactId = artifactIdOf(nodeKey, attempt, name);
      const earlier = await find(artifactId);
      if (earlier !== undefined) return earlier;

      const blobId = randomId(random);
      const content = await writePieces(dependencies, { tenant, runId, blobId }, masked(artifact, mask));
      const ref = { artifactId, mediaType: safeMediaType(mask.text(artifact.mediaType)), ...content.ref };
      const stored: StoredArtifact = { ...ref, name, nodeKey, blobId, pieces: content.pieces };
      const answer = await write({
        kind: 'document',
        tenant,
        collection: ARTIFACTS,
        scope: runId,
        id: artifactId,
        body: JSON.stringify(stored),
        at: clock.now(),
        onlyNew: true,
      });
      return answer === 'written' ? ref : ((await find(artifactId)) ?? ref);
    },
    async read(artifactId, maxBytes) {
      const found = await findArtifact(store, tenant, runId, artifactId);
      if (found === undefined) throw noArtifact(artifactId);
      const { blobId, pieces, size, mediaType } = JSON.parse(found.document.body) as StoredArtifact;
      if (size > maxBytes) throw tooLargeToRead(artifactId, maxBytes, size);
      const parts: Uint8Array[] = [];
      for await (const part of readPieces(store, { tenant, runId: found.runId, blobId }, pieces))
        parts.push(part);
      return { mediaType, bytes: Buffer.concat(parts) };
    },
  };
}

interface BlobPlace {
  readonly tenant: string;
  readonly runId: string;
  readonly blobId: string;
}

interface Content {
  readonly ref: { readonly size: number; readonly digest: string };
  readonly pieces: number;
}

/** One piece is written before the next is asked for, so a fast source does not fill the memory. */
async function writePieces(
  { write, maxBytes }: ArtifactDependencies,
  place: BlobPlace,
  source: AsyncIterable<Uint8Array>,
): Promise<Content> {
  const hash = createHash('sha256');
  let size = 0;
  let index = 0;
  for await (const bytes of inPieces(source)) {
    size += bytes.length;
    if (size > maxBytes) throw tooLarge(maxBytes, size);
    hash.update(bytes);
    await write({ kind: 'blob', ...place, index, bytes });
    index += 1;
  }
  return { ref: { size, digest: hash.digest('hex') }, pieces: index };
}

/** Cut and joined to pieces of equal size; the last one may be smaller. */
async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let held = 0;
  for await (const bytes of source) {
    for (let from = 0; from < bytes.length; ) {
      const part = bytes.subarray(from, from + PIECE_BYTES - held);
      waiting.push(part);
      held += part.length;
      from += part.length;
      if (held < PIECE_BYTES) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      held = 0;
    }
  }
  if (held > 0) yield Buffer.concat(waiting);
}

async function* masked({ bytes }: NewArtifact, mask: SecretMask): AsyncIterable<Uint8Array> {
  const hide = mask.bytes();
  if (bytes instanceof Uint8Array) yield hide.next(bytes, false);
  else for await (const piece of bytes) yield hide.next(piece, false);
  yield hide.next(new Uint8Array(0), true);
}

/** Safe inside a URL, and the same for every performance of the same attempt. */
export function artifactIdOf(nodeKey: string, attempt: number, name: string): string {
  const id = `${urlSafe(nodeKey)}:${attempt}:${urlSafe(name)}`;
  if (id.length <= MAX_ID) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return `${id.slice(0, MAX_ID - digest.length - 1)}~${digest}`;
}

function urlSafe(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/gu, (sign) =>
    [...Buffer.from(sign, 'utf8')]
      .map((byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}";
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})(?:\\s*;.*)?$`);
const CHARSET = /;\s*charset\s*=\s*"?([A-Za-z0-9_.:-]{1,40})"?/i;

/** Type and charset, written so that they can stand in a header; anything else is just bytes. */
export function safeMediaType(given: string): string {
  const type = MEDIA_TYPE.exec(given.trim())?.[1]?.toLowerCase();
  if (type === undefined) return 'application/octet-stream';
  const charset = CHARSET.exec(given)?.[1]?.toLowerCase();
  return charset === undefined ? type : `${type}; charset=${charset}`;
}

function checkName(name: string, used: Set<string>): void {
  if (name.length < 1 || name.length > MAX_NAME || !isName(name)) {
    throw new NodeFailure(
      'validation_error',
      `The name of an artifact must be 1 to ${MAX_NAME} characters without control characters.`,
      { details: { field: 'name' } },
    );
  }
  if (used.has(name)) {
    throw new NodeFailure('validation_error', 'A node may write an artifact of one name once.', {
      details: { field: 'name' },
    });
  }
  used.add(name);
}

function tooLarge(limit: number, observed: number): NodeFailure {
  return new NodeFailure('artifact_too_large', `An artifact may have ${limit} bytes; this one has more.`, {
    details: { limit, observed },
  });
}

function refOf({ artifactId, mediaType, size, digest }: StoredArtifact): ArtifactRef {
  return { artifactId, mediaType, size, digest };
}

function noArtifact(artifactId: string): NodeFailure {
  return new NodeFailure('artifact_not_found', `This run has no artifact "${artifactId}".`, {
    details: { artifactId },
  });
}

function tooLargeToRead(artifactId: string, limit: number, observed: number): NodeFailure {
  const message = `The artifact "${artifactId}" has ${observed} bytes; here it may have ${limit}.`;
  return new NodeFailure('artifact_too_large', message, { details: { artifactId, limit, observed } });
}

/** A fork's log tells of artifacts that the run it came from has made. */
async function findArtifact(store: ArtifactReads, tenant: string, runId: string, artifactId: string) {
  let at: string | undefined = runId;
  for (let steps = 0; at !== undefined && steps < MAX_FORKS; steps++) {
    const run = await store.readRun(at, tenant);
    if (run === undefined) return undefined;
    const document = await store.readDocument({ tenant, collection: ARTIFACTS, scope: at, id: artifactId });
    if (document !== undefined) return { runId: at, document };
    at = run.record.fork?.sourceRunId;
  }
  return undefined;
}

async function* readPieces(
  store: ArtifactReads,
  { tenant, runId, blobId }: BlobPlace,
  pieces: number,
): AsyncIterable<Uint8Array> {
  for (let index = 0; index < pieces; index++) {
    const bytes = await store.readBlob(tenant, runId, blobId, index);
    if (bytes === undefined) throw new Error(`Piece ${index} of an artifact is missing from the store.`);
    yield bytes;
  }
}

/** What others may read of artifacts. */
export function createReadArtifacts(store: ArtifactReads & Pick<Store, 'listDocuments'>): Host['artifacts'] {
  return {
    async open({ tenant }, runId, artifactId) {
      const found = await findArtifact(store, tenant, runId, artifactId);
      if (found === undefined) return undefined;
      const stored = JSON.parse(found.document.body) as StoredArtifact;
      const place = { tenant, runId: found.runId, blobId: stored.blobId };
      return { ...summaryOf(stored, found.document.at), read: () => readPieces(store, place, stored.pieces) };
    },
    async list({ tenant }, runId, page) {
      if ((await store.readRun(runId, tenant)) === undefined) return undefined;
      const { rows, nextCursor } = await store.listDocuments(tenant, ARTIFACTS, runId, page);
      return {
        rows: rows.map((row) => summaryOf(JSON.parse(row.body) as StoredArtifact, row.at)),
        ...(nextCursor !== undefined && { nextCursor }),
      };
    },
  };
}

function summaryOf(stored: StoredArtifact, at: number): ArtifactSummary {
  return { ...refOf(stored), name: stored.name, nodeKey: stored.nodeKey, createdAt: at };
}
