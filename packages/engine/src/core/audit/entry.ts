import { canonicalJson, type Json } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { StoredAuditEntry } from '../../ports/store.ts';

/**
 * The form in which an audit entry is hashed: RFC 8785 JSON of everything the store holds of it, its place in the chain, and
 * the hash of the entry before it. The first entry follows nothing, so its `prevHash` is null; that is the fixed beginning.
 */
export function entryHash(sequence: number, entry: StoredAuditEntry, prevHash: string | null): string {
  return hashOf({
    action: entry.action,
    actor: entry.actor,
    at: entry.at,
    details: entry.details ?? null,
    id: entry.id,
    prevHash,
    sequence,
    target: entry.target,
    tenant: entry.tenant,
  });
}

/** What a place of the chain hashes to when its entry is gone: never the hash of an entry. */
export function absentHash(sequence: number, prevHash: string | null): string {
  return hashOf({ prevHash, removed: true, sequence });
}

function hashOf(value: Json): string {
  return sha256Hex(canonicalJson(value));
}
