import { createClient, type Client } from '@weft/sdk';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import { hostAddressOf, signInCodeOf } from './route.ts';

/**
 * Who uses the page: a key, kept for this tab alone, and what it may do. A key comes from the person, or from the one-time code in the
 * fragment of a link, which the host takes once.
 */
export interface Session {
  readonly key: string;
  readonly principal: string | undefined;
  readonly tenant: string | undefined;
  /** Undefined where the host does not say: then nothing is hidden, and the host refuses what is not allowed. */
  readonly scopes: ReadonlySet<string> | undefined;
}

const STORED = 'weft.key';
const SESSIONS = '/v1/host/weft/sessions';

export const HOST = hostAddressOf(globalThis.location?.href ?? 'http://127.0.0.1/studio/');

export function storedKey(): string | undefined {
  return sessionStorage.getItem(STORED) ?? undefined;
}

export function forgetKey(): void {
  sessionStorage.removeItem(STORED);
}

export function clientWith(key: string | null): Client {
  return createClient({ baseUrl: HOST, apiKey: key });
}

/** The session that the key gives. Throws what the host says against it. */
export async function openSession(key: string): Promise<Session> {
  // A key that may not even list runs is refused with 403: it is a key all the same.
  await clientWith(key).runs.list({ limit: 1 }).catch(unlessForbidden);
  const who = await currentSession(key);
  sessionStorage.setItem(STORED, key);
  return { key, ...who };
}

function unlessForbidden(error: unknown): void {
  if (!(error instanceof Error && 'status' in error && error.status === 403)) throw error;
}

async function currentSession(key: string): Promise<Omit<Session, 'key'>> {
  const nothingKnown = { principal: undefined, tenant: undefined, scopes: undefined };
  const response = await fetch(`${HOST}${SESSIONS}/current`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) return nothingKnown;
  const found = (await response.json()) as Json;
  if (!isJsonObject(found)) return nothingKnown;
  const { principal, tenant, scopes } = found;
  return {
    principal: typeof principal === 'string' ? principal : undefined,
    tenant: typeof tenant === 'string' ? tenant : undefined,
    scopes: Array.isArray(scopes) ? new Set(scopes.map(String)) : undefined,
  };
}

/** Takes the code out of the address at once, so that it is in no history, and exchanges it. */
export async function keyFromLink(): Promise<string | undefined> {
  const code = signInCodeOf(location.hash);
  if (code === undefined) return undefined;
  history.replaceState(null, '', `${location.pathname}${location.search}#/runs`);
  const response = await fetch(`${HOST}${SESSIONS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const answer = (await response.json()) as Json;
  if (isJsonObject(answer) && typeof answer['key'] === 'string') return answer['key'];
  const message = isJsonObject(answer) ? answer['message'] : undefined;
  throw new Error(
    typeof message === 'string' ? message : 'The sign-in link was not accepted. Ask for a new one: weft open',
  );
}

export function may(session: Session | undefined, scope: string): boolean {
  return session?.scopes === undefined || session.scopes.has(scope) || session.scopes.has('host:admin');
}
