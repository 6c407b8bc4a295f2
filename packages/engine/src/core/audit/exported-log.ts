import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { type Ed25519Key, readPublicKey } from '../../crypto/ed25519.ts';
import type { StoredAuditEntry } from '../../ports/store.ts';
import { type Anomaly, type ChainWalk, createChainWalk, type Place } from './chain-walk.ts';
import { type AuditCheckpoint, readCheckpoint, sealOf } from './checkpoint.ts';
import { readBatch } from './link-batch.ts';
import { describeSeal, type Seal, sealsSameLog } from './seal.ts';
import { type AuditVerification, conclude, createCheckpointCheck } from './verification.ts';

/**
 * Verifies an exported log line by line, without a host: a head, the checkpoints, the batches of links, the entries, an end.
 * Entries are checked as they come by; only links and checkpoints are kept.
 */
export interface ExportVerifier {
  line(text: string): void;
  end(): ExportVerification;
}

export interface ExportVerification extends AuditVerification {
  readonly entries: number;
  /** Entries that no link covers: written in the last moment before the export, or put there later. Nothing vouches for them. */
  readonly pending: number;
  /** What the signatures were checked with: SPKI, DER, base64. */
  readonly publicKey?: string;
  /** What is wrong with the file itself. */
  readonly problems: readonly string[];
}

export interface Trusted {
  /** The key the reader knows the host by. Without it the file's own is taken, which proves only that it fits itself. */
  readonly publicKey?: string | undefined;
  /** What the log held once, and must hold still. */
  readonly anchor?: Seal | undefined;
}

export function createExportVerifier(trusted: Trusted = {}): ExportVerifier {
  const problems: string[] = [];
  const anomalies: Anomaly[] = [];
  const checkpoints: AuditCheckpoint[] = [];
  const places: Place[] = [];
  let walk: ChainWalk | undefined;
  let fileKey: string | undefined;
  let lines = 0;
  let entries = 0;
  let lastId = Number.NEGATIVE_INFINITY;
  let isEnded = false;

  const walked = (): ChainWalk => {
    walk ??= createChainWalk(places, null, (anomaly) => anomalies.push(anomaly));
    return walk;
  };

  function take(value: JsonObject): void {
    switch (value['kind']) {
      case 'head':
        if (value['format'] !== 'weft-audit' || value['version'] !== 2)
          problems.push('line 1 names another format');
        if (typeof value['publicKey'] === 'string') fileKey = value['publicKey'];
        return;
      case 'checkpoint':
        return takeCheckpoint(value);
      case 'batch':
        return takeBatch(value);
      case 'entry':
        return takeEntry(value);
      case 'end':
        if (value['lines'] !== lines - 1)
          problems.push(`line ${lines} counts ${String(value['lines'])} lines before it`);
        isEnded = true;
        return;
      case 'unreadable':
        problems.push(`line ${lines} stands for a record that the host could not read`);
        return;
      default:
        problems.push(`line ${lines} is of an unknown kind`);
    }
  }

  function takeCheckpoint(value: JsonObject): void {
    const checkpoint = readCheckpoint(value, checkpoints.length);
    if (checkpoint === undefined) problems.push(`line ${lines} is not checkpoint ${checkpoints.length}`);
    else checkpoints.push(checkpoint);
  }

  let batches = 0;
  function takeBatch(value: JsonObject): void {
    const batch = readBatch(value, batches);
    if (walk !== undefined || batch === undefined || batch.firstSeq !== places.length) {
      problems.push(`line ${lines} is not batch ${batches} of the chain`);
      return;
    }
    batches += 1;
    batch.links.forEach(({ id, hash }, index) => places.push({ seq: batch.firstSeq + index, id, hash }));
  }

  function takeEntry(value: JsonObject): void {
    const entry = readEntry(value);
    if (entry === undefined || entry.id <= lastId) {
      problems.push(`line ${lines} is no entry, or not in its place`);
      return;
    }
    lastId = entry.id;
    entries += 1;
    walked().entry(entry);
  }

  return {
    line(text) {
      lines += 1;
      const value = parsed(text);
      if (isEnded) problems.push(`line ${lines} stands behind the end`);
      else if ((lines === 1) !== (isJsonObject(value) && value['kind'] === 'head'))
        problems.push(`line ${lines} is ${lines === 1 ? 'not a head' : 'a second head'}`);
      else if (isJsonObject(value)) take(value);
      else problems.push(`line ${lines} is not a JSON object`);
    },
    end() {
      if (!isEnded) problems.push('the file has no end; it was cut');
      walked().end();
      const check = createCheckpointCheck(checkpoints);
      check.cover(places);
      const text = trusted.publicKey ?? fileKey;
      const publicKey: Ed25519Key | undefined = text === undefined ? undefined : readPublicKey(text);
      if (text !== undefined && publicKey === undefined) problems.push('the public key is no Ed25519 key');
      if (trusted.anchor !== undefined && !holds(checkpoints, trusted.anchor))
        problems.push(`it does not hold what was anchored (${describeSeal(trusted.anchor)})`);
      const found = conclude({
        fromSeq: 0,
        toSeq: Math.max(places.length - 1, 0),
        anomalies,
        checkpoints,
        rootsValid: check.rootsValid(),
        publicKey,
      });
      return {
        ...found,
        chainValid: found.chainValid && problems.length === 0,
        entries,
        pending: walked().unlinked(),
        ...(publicKey !== undefined && text !== undefined && { publicKey: text }),
        problems,
      };
    },
  };
}

function holds(checkpoints: readonly AuditCheckpoint[], anchor: Seal): boolean {
  const checkpoint = checkpoints[anchor.number];
  return checkpoint !== undefined && sealsSameLog(sealOf(checkpoint), anchor);
}

function readEntry(value: JsonObject): StoredAuditEntry | undefined {
  const { kind: _kind, id, at, tenant, actor, action, target, details, ...more } = value;
  const isWhole =
    Number.isSafeInteger(id) &&
    typeof at === 'number' &&
    typeof tenant === 'string' &&
    typeof actor === 'string' &&
    typeof action === 'string' &&
    typeof target === 'string' &&
    (details === undefined || isJsonObject(details)) &&
    Object.keys(more).length === 0;
  if (!isWhole) return undefined;
  return { id: Number(id), at, tenant, actor, action, target, ...(details !== undefined && { details }) };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // said with the line's number
  }
}
