import type { Egress, Log } from '@weft/engine';

/** Where telemetry goes. */
export interface OtlpTarget {
  /** Base URL of the collector; `/v1/traces` and `/v1/metrics` are added. */
  readonly endpoint: string;
  /** Sent with every request; may hold credentials, so they are never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

/** `again`: the collector is away or busy, the same bytes may be taken later. `refused`: they never will. */
export type Posted =
  | { readonly state: 'taken' }
  | { readonly state: 'again'; readonly afterMs?: number }
  | {
      readonly state: 'refused';
    };

export type Post = (kind: 'traces' | 'metrics', body: string) => Promise<Posted>;

export interface PostDependencies {
  readonly target: OtlpTarget;
  readonly egress: Egress;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const BUSY = new Set([408, 429, 502, 503, 504]);

/** Sends one document to the collector. Says once when the collector goes away, and once when it is back. */
export function createPost({ target, egress, log, signal }: PostDependencies): Post {
  const base = target.endpoint.replace(/\/+$/, '');
  let isAway = false;

  function note(away: boolean, why: string): void {
    if (away === isAway) return;
    isAway = away;
    if (away) log('warn', { why }, 'the telemetry collector does not take what is sent');
    else log('info', {}, 'the telemetry collector takes what is sent again');
  }

  return async (kind, body) => {
    try {
      const response = await egress.fetch({
        url: `${base}/v1/${kind}`,
        method: 'POST',
        headers: { ...target.headers, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        maxResponseBytes: MAX_ANSWER_BYTES,
        followRedirects: false,
      });
      if (response.status >= 200 && response.status <= 299) {
        note(false, '');
        return { state: 'taken' };
      }
      note(true, `status ${response.status}`);
      if (!BUSY.has(response.status)) return { state: 'refused' };
      const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
      return Number.isFinite(seconds) && seconds >= 0
        ? { state: 'again', afterMs: seconds * 1_000 }
        : { state: 'again' };
    } catch (error) {
      if (!signal.aborted) note(true, reasonOf(error));
      return { state: 'again' };
    }
  };
}

/** Errors of the egress hold the authority and a code, nothing of headers or path. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'reason' in error && typeof error.reason === 'string') return error.reason;
  return error instanceof Error ? error.name : 'unknown';
}
