import { createHmac, timingSafeEqual } from 'node:crypto';
import { HostError, isJsonObject, type JsonObject } from '@weft/protocol';
import type { LinkKeys } from './link-keys.ts';

/**
 * Signed links: the holder of one may see or answer one question, without a key. A link names the question, its kind, when it
 * was issued and its own end, and carries a MAC over all of it; nothing is stored for it. A run id belongs to one tenant for
 * good, so a link is bound to the tenant through its run.
 *
 * K-1. The MAC is checked before anything the link says is trusted or looked up.
 * K-2. A link is accepted from its issue on, until its own end, and never for longer than its kind lasts.
 * K-3. Only what the current key has signed, or the one before it, is accepted.
 */
export interface Link extends LinkTarget {
  /** When it ends, by its own word and by its kind. */
  readonly validUntil: number;
  readonly intent: 'resolve' | 'inspect';
}

/** The question that a link leads to. */
export interface LinkTarget {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration?: readonly number[];
  readonly interruptId: string;
}

export type LinkKind = 'snapshot' | 'callback';

/** A token for the question, unless none can be given out; `deadline` is the question's own. */
export type LinkTo = (target: LinkTarget, deadline: number | undefined) => string | undefined;

export interface Links {
  /** False on a host without a secrets key. */
  readonly areOn: boolean;
  linkFor(kind: LinkKind): LinkTo;
  /** Changes whenever the links in a snapshot do. */
  version(): string;
  /** Throws `interrupt_not_found` for a token that this host has not signed, or no longer stands by. */
  read(token: string): Promise<Link>;
}

export interface LinksOptions {
  readonly keys: LinkKeys;
  readonly now: () => number;
  readonly maxCallbackMs: number;
}

/** Links change with the window, not with the millisecond, so that a snapshot stays the same between two reads. */
const WINDOW_MS = 15 * 60 * 1_000;
const SNAPSHOT_MS = 2 * WINDOW_MS;
/** How far apart the clocks of two processes may be. */
const SKEW_MS = 60_000;
/** Longer ones do not fit into the path of a request. */
const MAX_TOKEN_LENGTH = 1_024;

export function createLinks({ keys, now, maxCallbackMs }: LinksOptions): Links {
  const maxMs = new Map<unknown, number>([
    ['snapshot', SNAPSHOT_MS],
    ['callback', maxCallbackMs],
  ] satisfies [LinkKind, number][]);

  const issuedAt = (kind: LinkKind): number =>
    kind === 'snapshot' ? Math.floor(now() / WINDOW_MS) * WINDOW_MS : now();

  return {
    areOn: keys.areOn,
    linkFor: (kind) => (target, deadline) => {
      const key = keys.current();
      if (key === undefined) return undefined;
      const issued = issuedAt(kind);
      const end = issued + (maxMs.get(kind) ?? 0);
      const expiresAt = deadline === undefined ? end : Math.min(end, deadline);
      const stated = { ...target, kind, key: key.keyId, issuedAt: issued, expiresAt, intent: 'resolve' };
      const payload = Buffer.from(JSON.stringify(stated), 'utf8').toString('base64url');
      const token = `${payload}.${mac(key.secret, payload)}`;
      return token.length <= MAX_TOKEN_LENGTH ? token : undefined;
    },
    version: () => `${keys.current()?.keyId ?? ''}-${issuedAt('snapshot')}`,
    async read(token) {
      const { stated, keyId } = authentic(token, keys.secretOf);
      const { kind, issuedAt: issued, expiresAt } = stated;
      const max = maxMs.get(kind);
      if (max === undefined || typeof issued !== 'number' || typeof expiresAt !== 'number')
        throw noSuchLink();
      if (issued > now() + SKEW_MS || !(await keys.isValid(keyId))) throw noSuchLink();
      // The MAC says that this host has written it.
      return { ...(stated as unknown as Link), validUntil: Math.min(expiresAt, issued + max) };
    },
  };
}

/** What a token says, once its MAC has been found right. A forged or damaged one gets the same error as one that never existed. */
function authentic(
  token: string,
  secretOf: LinkKeys['secretOf'],
): { readonly stated: JsonObject; readonly keyId: string } {
  const [payload = '', signature = '', ...more] = token.split('.');
  const stated = token.length > MAX_TOKEN_LENGTH || more.length > 0 ? undefined : parsed(payload);
  const keyId = stated?.['key'];
  const secret = typeof keyId === 'string' ? secretOf(keyId) : undefined;
  if (stated === undefined || typeof keyId !== 'string' || secret === undefined) throw noSuchLink();
  // As text, because several texts decode to the same bytes.
  const [given, expected] = [Buffer.from(signature), Buffer.from(mac(secret, payload))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw noSuchLink();
  return { stated, keyId };
}

function parsed(payload: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // not a token of ours
  }
}

export function noSuchLink(): HostError {
  return new HostError('interrupt_not_found', 'Unknown or expired interrupt link.');
}

function mac(secret: Uint8Array, payload: string): string {
  return createHmac('sha256', secret).update(payload).digest('base64url');
}
