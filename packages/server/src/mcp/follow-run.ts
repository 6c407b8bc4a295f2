import type { Caller, Host } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';

/** Why there is nothing more to wait for now: it ended, it waits for an answer, or the time is up. */
export type Standing =
  | { readonly state: 'ended'; readonly end: JsonObject }
  | { readonly state: 'waiting' }
  | { readonly state: 'running' };

export interface Progress {
  /** Events so far. */
  readonly events: number;
  readonly message: string;
}

export interface FollowDeps {
  readonly host: Host;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly waitMs: number;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

const EVENTS_AT_ONCE = 200;
const VERBS: Readonly<Record<string, string>> = {
  'node.started': 'started',
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.retried': 'is tried again',
};

/** Reads a run's log until the run ends or waits for someone. Undefined when the caller may not see it. */
export async function followRun(deps: FollowDeps, runId: string): Promise<Standing | undefined> {
  const { host, caller, signal, waitMs, onProgress } = deps;
  const until = performance.now() + waitMs;
  let afterSeq = -1;
  for (;;) {
    const page = await host.runs.events(caller, runId, afterSeq, EVENTS_AT_ONCE);
    if (page === undefined) return undefined;
    for (const event of page.events) {
      const verb = VERBS[event.type];
      if (verb !== undefined)
        onProgress?.({
          events: event.seq + 1,
          message: `${String(payloadOf(event)['nodeId'] ?? '')} ${verb}`,
        });
      afterSeq = event.seq;
    }
    const last = page.events.at(-1);
    if (page.complete) return { state: 'ended', end: last === undefined ? {} : payloadOf(last) };
    const isRead = afterSeq + 1 >= page.nextSeq;
    if (isRead && page.status.startsWith('waiting-')) return { state: 'waiting' };
    const left = until - performance.now();
    if (left <= 0 || signal.aborted) return { state: 'running' };
    if (isRead) await host.runs.waitForEvents(runId, afterSeq, left, signal);
  }
}

function payloadOf({ payload }: { readonly payload: string }): JsonObject {
  return JSON.parse(payload) as JsonObject;
}
