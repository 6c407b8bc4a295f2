import { createHmac, timingSafeEqual } from 'node:crypto';
import { HostError } from '@weft/protocol';

/**
 * Signed links: whoever holds one may see or answer one question, without a key. A link names the question and its own end,
 * and carries a MAC over both; nothing is stored for it.
 */
export interface Link {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration?: readonly number[];
  readonly interruptId: string;
  readonly expiresAt: number;
  readonly intent: 'resolve' | 'inspect';
}

/** Links change with the window, not with the millisecond, so that a snapshot stays the same between two reads. */
const WINDOW_MS = 15 * 60 * 1_000;

export function linkWindow(now: number): number {
  return Math.floor(now / WINDOW_MS);
}

/** The end of a link made now: 15 to 30 minutes away, and never after the question's own. */
export function linkExpiry(now: number, deadline: number | undefined): number {
  const expiry = (linkWindow(now) + 2) * WINDOW_MS;
  return deadline === undefined ? expiry : Math.min(expiry, deadline);
}

export function signLink(secret: string, link: Link): string {
  const payload = Buffer.from(JSON.stringify(link), 'utf8').toString('base64url');
  return `${payload}.${mac(secret, payload).toString('base64url')}`;
}

/** The link in a token. A forged, cut or garbled one is not told apart from one that never was. */
export function readLink(secret: string, token: string): Link {
  const [payload = '', signature = ''] = token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const expected = mac(secret, payload);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw noSuchLink();
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Link;
}

export function noSuchLink(): HostError {
  return new HostError('interrupt_not_found', 'This link leads to no question of this host.');
}

function mac(secret: string, payload: string): Buffer {
  return createHmac('sha256', secret).update(payload).digest();
}
