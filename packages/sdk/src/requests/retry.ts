import { ApiError, ConnectionError } from './errors.ts';

/** When a request is sent again, and after which pause. Whether it may be sent again is the transport's to know. */

const TEMPORARY = new Set([408, 429, 502, 503, 504]);
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;

export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.status === undefined || TEMPORARY.has(error.status);
  if (!(error instanceof ApiError)) return false;
  // Our own first attempt may still be carried out, after its answer was lost.
  return TEMPORARY.has(error.status) || error.code === 'idempotency_in_flight';
}

/** What the host asked for, up to a minute; otherwise exponential, with full jitter, so that clients do not come back together. */
export function retryDelayMs(error: unknown, attempt: number): number {
  const asked = error instanceof ApiError || error instanceof ConnectionError ? error.retryAfter : undefined;
  if (asked !== undefined) return Math.min(asked * 1000, MAX_RETRY_AFTER_MS);
  return Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
}

/** Seconds; the header has a number of them, or a date. */
export function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
