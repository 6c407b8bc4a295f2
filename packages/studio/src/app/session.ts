import { createClient, type Client } from '@weft/sdk';
import { hostAddressOf, signInCodeOf } from './route.ts';

/**
 * Who uses the page: a key, kept for this tab alone, and what it may do. A key comes from the person, or from the one-time code in the
 * fragment of a link, which the host takes once.
 */
export interface Session {
  readonly key: string;
  readonly principal: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<string>;
}

const STORED = 'weft.key';

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
  const { principal, tenant, scopes } = await clientWith(key).sessions.current();
  sessionStorage.setItem(STORED, key);
  return { key, principal, tenant, scopes: new Set(scopes) };
}

export function hasSignInCode(): boolean {
  return signInCodeOf(location.hash) !== undefined;
}

/** Takes the code out of the address at once, so that it is in no history, and exchanges it. */
export async function keyFromLink(): Promise<string | undefined> {
  const code = signInCodeOf(location.hash);
  if (code === undefined) return undefined;
  history.replaceState(null, '', `${location.pathname}${location.search}#/runs`);
  return (await clientWith(null).sessions.open(code)).key;
}

/** A session of a link ends on the host, too; a key that a person typed stays what it was. */
export function endSession({ key }: Session): void {
  forgetKey();
  clientWith(key)
    .sessions.end()
    .catch(() => undefined);
}

/** What is hidden from those who may not do it. The host refuses it in any case. */
export function may({ scopes }: Session, scope: string): boolean {
  return scopes.has(scope) || scopes.has('host:admin');
}
