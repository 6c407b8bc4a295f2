import { endpointOf, type JsonObject } from '@weft/protocol/plain';
import { type ApiPromise, mapped } from '../requests/api-promise.ts';
import type { EventsPage, RunEventDocument } from '../documents.ts';
import { PagePromise } from '../requests/page-promise.ts';
import type { RunEvent } from '../runs/run-events.ts';
import { textPieces } from '../requests/text-pieces.ts';
import type { Transport } from '../requests/transport.ts';

/** How run b differs from run a, sequence by sequence and in the states they have reached. */
export interface RunDiffDocument {
  readonly a: string;
  readonly b: string;
  /** Where the logs part; null when they are equal. */
  readonly divergedAtSeq: number | null;
  readonly eventDiffs: readonly EventDifferenceDocument[];
  /** `status`, `variables` and `channels`, each as `{a, b}`, only where they differ. */
  readonly stateDiff: JsonObject;
  /** A run was still active, and what it had was compared. */
  readonly truncated?: boolean;
}

export interface EventDifferenceDocument {
  readonly seq: number;
  /** `added`: only in b; `removed`: only in a. */
  readonly op: 'added' | 'removed' | 'changed';
  readonly aEvent?: RunEventDocument;
  readonly bEvent?: RunEventDocument;
}

export interface DiffOptions {
  readonly signal?: AbortSignal;
}

/** Comparing the runs of one host. */
export interface Diffs {
  diff(a: string, b: string, options?: DiffOptions): ApiPromise<RunDiffDocument>;
  /** The same as the text the host sends, piece by piece. Leave the loop to stop the host's work. */
  diffText(a: string, b: string, options?: DiffOptions): Promise<AsyncIterable<string>>;
  /** The log of a run as far as it goes. Does not follow an active run: `events` does. */
  log(runId: string, options?: DiffOptions): PagePromise<RunEvent, EventsPage>;
}

const PAGE_EVENTS = 1_000;

export function createDiffs(transport: Transport): Diffs {
  return {
    diff: (a, b, options = {}) =>
      transport.json(endpointOf('diffRun', { runId: a }), { query: { against: b }, signal: options.signal }),
    async diffText(a, b, options = {}) {
      const call = { query: { against: b }, signal: options.signal };
      const response = await transport.open(endpointOf('diffRun', { runId: a }), call);
      return textPieces(response, transport.origin, options.signal);
    },
    log: (runId, options = {}) => logOf(transport, runId, options.signal),
  };
}

function logOf(
  transport: Transport,
  runId: string,
  signal: AbortSignal | undefined,
): PagePromise<RunEvent, EventsPage> {
  const load = (after?: number): ApiPromise<EventsPage> =>
    mapped(
      transport.json<EventsPage>(endpointOf('pollRunEvents', { runId }), {
        // The shortest wait there is: at the end of an active run's log, nothing more is waited for.
        query: { lastSequence: after, limit: PAGE_EVENTS, timeout: 1 },
        signal,
      }),
      // A host that sends the same page again must not keep a loop for ever.
      (page) => ((page.events.at(-1)?.sequence ?? -1) > (after ?? -1) ? page : { ...page, events: [] }),
    );
  return new PagePromise({
    first: () => load(),
    rowsOf: ({ events }) => events,
    next: ({ events, isComplete }) => {
      const last = events.at(-1);
      return last === undefined || isComplete ? undefined : load(last.sequence);
    },
  });
}
