import { randomBytes } from 'node:crypto';

const SAFE = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** Ids of our own: random per process, counted within it. */
const prefix = randomBytes(9).toString('base64url');
let count = 0;

/** The client's X-Request-Id when it is short and harmless, so that both sides can search by it; otherwise our own. */
export function requestIdOf({
  headers,
}: {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): string {
  const sent = headers['x-request-id'];
  if (typeof sent === 'string' && SAFE.test(sent)) return sent;
  count += 1;
  return `${prefix}-${count}`;
}
