import type { JsonObject } from '@weft/protocol';
import { endpointOf } from '@weft/protocol/plain';
import type { EventsPage, RunEventDocument } from './documents.ts';
import { textPieces } from './text-pieces.ts';
import type { Transport } from './transport.ts';

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
  diff(a: string, b: string, options?: DiffOptions): Promise<RunDiffDocument>;
  /** The same as the text the host sends, piece by piece. Leave the loop to stop the host's work. */
  diffText(a: string, b: string, options?: DiffOptions): Promise<AsyncIterable<string>>;
  /** The log of a run as far as it goes, in pages. Does not follow an active run. */
  log(runId: string, options?: DiffOptions): AsyncIterable<readonly RunEventDocument[]>;
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
    log: (runId, options = {}) => pagesOf(transport, runId, options.signal),
  };
}

async function* pagesOf(
  transport: Transport,
  runId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly RunEventDocument[], void, undefined> {
  let lastSequence = -1;
  for (;;) {
    const page = await transport.json<EventsPage>(endpointOf('pollRunEvents', { runId }), {
      // The shortest wait there is: at the end of an active run's log, nothing more is waited for.
      query: { lastSequence: lastSequence < 0 ? undefined : lastSequence, limit: PAGE_EVENTS, timeout: 1 },
      signal,
    });
    const last = page.events.at(-1);
    // A host that sends the same page again must not keep us here for ever.
    if (last === undefined || last.sequence <= lastSequence) return;
    yield page.events;
    if (page.isComplete) return;
    lastSequence = last.sequence;
  }
}
