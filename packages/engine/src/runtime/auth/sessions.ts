import { timingSafeEqual } from 'node:crypto';
import { HostError, toIso } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { Authentication, Caller, OpenedSession, Sessions, SignInCode } from '../../host/host.ts';
import type { Authenticate } from '../../ports/authenticate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AuditEntry, DocumentUnit, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { ApiKeys } from './keys.ts';

/**
 * A code becomes a session once. Both are documents of the store, so any process of a cluster takes the code of another, and neither
 * can be read from a copy of the store: it holds hashes.
 *
 * K-9.  Of all who bring the same code, on any process, one gets a session: the session is written under an id made from the code, and
 *       only where there is none.
 * K-10. A code is valid for a minute, a session for twelve hours, and neither for longer than the key behind it: when that is revoked or
 *       expires, so does the session.
 * K-11. A session may do what the key behind it might when the code was made, and makes no further codes.
 */
export interface AllSessions extends Sessions {
  /** Undefined when the credential is none of a session. */
  readonly authenticate: (credential: string) => Promise<Authentication | undefined>;
  /** Ends the session of this id, if the tenant has it. */
  readonly revoke: (caller: Caller, sessionId: string, tenant: string) => Promise<boolean>;
}

export interface SessionDependencies {
  readonly store: Pick<Store, 'readDocument'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly keys: Pick<ApiKeys, 'hashOf' | 'stateOf'>;
  readonly test: boolean;
}

export const SESSION_PREFIX = 'weft_session_';

const CODE = /^[A-Za-z0-9_-]{43}$/;
const KEY = /^weft_session_([0-9a-f]{32})\.([A-Za-z0-9_-]{43})$/;
const SESSION_ID = /^ses_([0-9a-f]{32})$/;
const CODES = 'session-code';
const SESSIONS = 'session';
const CODE_MS = 60_000;
const SESSION_MS = 12 * 60 * 60_000;
/** How long an ended session is distinguished from one that never existed. */
const REMEMBERED_MS = 24 * 60 * 60_000;
const KNOWN_SESSIONS = 1_000;
const KNOWN_FOR_MS = 1_000;

/** What a code or a session stands for. */
interface Granted extends Omit<Caller, 'scopes' | 'keyId' | 'address' | 'expiresAt'> {
  readonly scopes: readonly string[];
  readonly keyId: string;
  /** Of the API key behind it; absent for credentials that are not in the store. */
  readonly keyHash?: string;
  readonly expiresAt: number;
}

interface StoredCode extends Granted {
  /** The latest end of the session. */
  readonly sessionEndsBy?: number;
}

interface StoredSession extends Granted {
  readonly hash: string;
  readonly revokedAt?: number;
}

interface KnownSession {
  readonly session: StoredSession;
  /** By the monotonic clock. */
  readonly until: number;
}

export function createSessions(dependencies: SessionDependencies): AllSessions {
  const { store, committer, clock, random, keys, test } = dependencies;
  const known = createBoundedCache<string, KnownSession>(KNOWN_SESSIONS);

  async function read<Body>(collection: string, id: string): Promise<Body | undefined> {
    const found = await store.readDocument({ tenant: HOST_TENANT, collection, scope: '', id });
    return found && (JSON.parse(found.body) as Body);
  }

  /** False when it is to be new and there is one. */
  async function write(
    collection: string,
    id: string,
    body: Granted,
    { keepUntil, ...more }: Pick<DocumentUnit, 'onlyNew'> & { keepUntil: number; audit: AuditEntry[] },
  ): Promise<boolean> {
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      tenant: HOST_TENANT,
      collection,
      scope: '',
      id,
      at: clock.now(),
      expiresAt: keepUntil,
      body: JSON.stringify(body),
      ...more,
    });
    if (result.state === 'refused' && result.reason === 'document_exists') return false;
    if (result.state !== 'committed') throw writeFailure(result);
    return true;
  }

  async function sessionOf(id: string): Promise<StoredSession | undefined> {
    const cached = known.get(id);
    if (cached !== undefined && cached.until > clock.monotonic()) return cached.session;
    const session = await read<StoredSession>(SESSIONS, id);
    if (session !== undefined) known.set(id, { session, until: clock.monotonic() + KNOWN_FOR_MS });
    return session;
  }

  async function createCode(caller: Caller): Promise<SignInCode> {
    const [, ownId] = SESSION_ID.exec(caller.keyId) ?? [];
    if (ownId !== undefined && (await sessionOf(ownId)) !== undefined)
      throw new HostError('forbidden', 'A session makes no sign-in links; use the key it was opened with.');
    const code = secretText(random);
    const expiresAt = clock.now() + CODE_MS;
    const keyHash = await keys.hashOf(caller);
    const { address: _address, scopes, expiresAt: sessionEndsBy, ...who } = caller;
    const body: StoredCode = {
      ...who,
      scopes: [...scopes],
      expiresAt,
      ...(keyHash !== undefined && { keyHash }),
      ...(sessionEndsBy !== undefined && { sessionEndsBy }),
    };
    const id = idOf(code);
    const details = { expiresAt: toIso(expiresAt) };
    await write(CODES, id, body, {
      keepUntil: expiresAt,
      audit: [auditOf(caller, { at: clock.now(), action: 'session.code', target: `ses_${id}`, details })],
    });
    return { code, expiresAt };
  }

  async function open(code: string, address?: string): Promise<OpenedSession> {
    const id = idOf(code);
    const found = CODE.test(code) ? await read<StoredCode>(CODES, id) : undefined;
    if (found === undefined || found.expiresAt <= clock.now() || found.test !== test) throw invalidCode();
    if ((await endOf(found)) !== undefined) throw invalidCode();
    const { sessionEndsBy = Number.POSITIVE_INFINITY, ...granted } = found;
    const expiresAt = Math.min(clock.now() + SESSION_MS, sessionEndsBy);
    const secret = secretText(random);
    const session: StoredSession = { ...granted, expiresAt, hash: sha256Hex(secret) };
    const caller = { ...callerOf(id, session), ...(address !== undefined && { address }) };
    const details = { of: found.keyId, scopes: [...found.scopes], expiresAt: toIso(expiresAt) };
    const isFirst = await write(SESSIONS, id, session, {
      onlyNew: true,
      keepUntil: expiresAt + REMEMBERED_MS,
      audit: [auditOf(caller, { at: clock.now(), action: 'session.open', target: caller.keyId, details })],
    });
    if (!isFirst) throw invalidCode();
    return { key: `${SESSION_PREFIX}${id}.${secret}`, caller, expiresAt };
  }

  /** Why the key behind it no longer carries it. */
  async function endOf({ keyHash }: Granted): Promise<'revoked' | undefined> {
    if (keyHash === undefined) return undefined;
    return (await keys.stateOf(keyHash)).state === 'ok' ? undefined : 'revoked';
  }

  async function authenticate(credential: string): Promise<Authentication | undefined> {
    const [, id = '', secret = ''] = KEY.exec(credential) ?? [];
    if (id === '') return undefined;
    const session = await sessionOf(id);
    if (session === undefined || session.test !== test || !isSame(session.hash, sha256Hex(secret)))
      return { state: 'unknown' };
    if (session.revokedAt !== undefined) return { state: 'revoked' };
    if (session.expiresAt <= clock.now()) return { state: 'expired' };
    const ended = await endOf(session);
    return ended === undefined ? { state: 'ok', caller: callerOf(id, session) } : { state: ended };
  }

  async function revoke(caller: Caller, sessionId: string, tenant: string): Promise<boolean> {
    const [, id = ''] = SESSION_ID.exec(sessionId) ?? [];
    const session = id === '' ? undefined : await read<StoredSession>(SESSIONS, id);
    if (session === undefined || session.tenant !== tenant) return false;
    const isInReach = caller.workspace === undefined || caller.workspace === session.workspace;
    if (!isInReach) return false;
    const now = clock.now();
    const ended: StoredSession = { ...session, revokedAt: session.revokedAt ?? now };
    await write(SESSIONS, id, ended, {
      keepUntil: session.expiresAt + REMEMBERED_MS,
      audit: [auditOf(caller, { at: now, tenant, action: 'session.end', target: sessionId })],
    });
    known.delete(id);
    return true;
  }

  return {
    createCode,
    open,
    authenticate,
    revoke,
    end: (caller) => revoke(caller, caller.keyId, caller.tenant),
  };
}

/** Sessions next to API keys: each knows its own by their form. */
export function withSessions(sessions: Pick<AllSessions, 'authenticate'>, keys: Authenticate): Authenticate {
  return (credential) =>
    credential.startsWith(SESSION_PREFIX)
      ? sessions.authenticate(credential).then((found) => found ?? keys(credential))
      : keys(credential);
}

function callerOf(id: string, session: StoredSession): Caller {
  const { tenant, principal, workspace, kind, test, expiresAt } = session;
  return {
    tenant,
    principal,
    ...(workspace !== undefined && { workspace }),
    keyId: `ses_${id}`,
    kind,
    test,
    scopes: new Set(session.scopes),
    expiresAt,
  };
}

/** 256 bits. */
function secretText(random: RandomBytes): string {
  return Buffer.from(random(32)).toString('base64url');
}

function idOf(code: string): string {
  return sha256Hex(code).slice(0, 32);
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The same answer for every code that opens nothing, so that none can be distinguished from another. */
function invalidCode(): HostError {
  return new HostError(
    'sign_in_code_invalid',
    'This sign-in link was used before, or its minute is over. Get a new one with: weft open',
  );
}
