import type { Endpoint, Json } from '@weft/protocol';
import { endpointOf } from '@weft/protocol/plain';
import type {
  BulkCancelAnswer,
  CreatedRun,
  EventsPage,
  Listing,
  NewRun,
  ResolveAnswer,
  RunCommandAnswer,
  RunDocument,
  RunEventDocument,
  RunExplanation,
  RunFilter,
  RunSummary,
} from './documents.ts';
import { type EventStreamOptions, followRun } from './event-stream.ts';
import type { Transport } from './transport.ts';

export interface Idempotent {
  /** Makes a repeat of the same request harmless. */
  readonly idempotencyKey?: string;
}

export interface CreateRunOptions extends Idempotent {
  /** Refuses the run while another one with the same scopeId is active. */
  readonly exclusiveScope?: boolean;
}

export interface PauseOptions extends Idempotent {
  readonly reason?: string;
  readonly drainPolicy?: 'immediate' | 'drain-current-node';
}

export interface PollOptions {
  /** Highest sequence already seen; left out, the page starts at the first event. */
  readonly after?: number;
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
}

export interface Runs {
  create(run: NewRun, options?: CreateRunOptions): Promise<CreatedRun>;
  get(runId: string): Promise<RunDocument>;
  cancel(runId: string, options?: Idempotent & { reason?: string }): Promise<RunCommandAnswer>;
  bulkCancel(
    runIds: readonly string[],
    options?: Idempotent & { reason?: string },
  ): Promise<BulkCancelAnswer>;
  pause(runId: string, options?: PauseOptions): Promise<RunCommandAnswer>;
  resume(runId: string, options?: Idempotent & { reason?: string }): Promise<RunCommandAnswer>;
  /**
   * Answers the question a node has asked; `nodeId` is `gate`, or `gate[2]` inside a loop. The status is the run's after it:
   * still waiting where an approval needs more votes.
   */
  resolve(runId: string, nodeId: string, resumeValue: Json, options?: Idempotent): Promise<ResolveAnswer>;
  /** Live events until the run ends; survives lost connections. Leave the loop to close the stream. */
  events(runId: string, options?: EventStreamOptions): AsyncIterable<RunEventDocument>;
  poll(runId: string, options?: PollOptions): Promise<EventsPage>;
  list(filter?: RunFilter): Promise<Listing<RunSummary>>;
  /** In one sentence, what the run waits for. */
  why(runId: string): Promise<RunExplanation>;
  /** Gives a quarantined run another chance; needs host:admin. */
  release(runId: string): Promise<{ readonly runId: string; readonly released: true }>;
}

export function createRuns(transport: Transport): Runs {
  return {
    create: (run, options = {}) =>
      transport.json(endpointOf('createRun'), {
        body: run,
        headers: {
          'idempotency-key': options.idempotencyKey,
          'x-dedup': options.exclusiveScope === true ? 'enforce' : undefined,
        },
      }),
    get: (runId) => transport.json(endpointOf('getRun', { runId })),
    cancel: (runId, options) => command(transport, endpointOf('cancelRun', { runId }), options),
    bulkCancel: (runIds, options = {}) =>
      transport.json(endpointOf('bulkCancelRuns'), {
        body: { runIds, ...(options.reason === undefined ? {} : { reason: options.reason }) },
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    pause: (runId, options) => command(transport, endpointOf('pauseRun', { runId }), options),
    resume: (runId, options) => command(transport, endpointOf('resumeRun', { runId }), options),
    resolve: (runId, nodeId, resumeValue, options = {}) =>
      transport.json(endpointOf('resolveInterruptByRun', { runId, nodeId }), {
        body: { resumeValue },
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    events: (runId, options) => followRun(transport, runId, options),
    poll: (runId, options = {}) =>
      transport.json(endpointOf('pollRunEvents', { runId }), {
        query: { lastSequence: options.after, timeout: options.timeoutSeconds },
        signal: options.signal,
      }),
    list: async (filter = {}) => {
      const { runs, ...rest } = await transport.json<{ runs: RunSummary[]; nextCursor?: string }>(
        endpointOf('listRuns'),
        {
          query: { ...filter, status: filter.status?.join(',') },
        },
      );
      return { items: runs, ...rest };
    },
    release: (runId) => transport.json(endpointOf('releaseRun', { runId })),
    why: (runId) => transport.json(endpointOf('explainRun', { runId })),
  };
}

function command(
  transport: Transport,
  endpoint: Endpoint,
  options: PauseOptions = {},
): Promise<RunCommandAnswer> {
  const { idempotencyKey, ...body } = options;
  return transport.json(endpoint, { body, headers: { 'idempotency-key': idempotencyKey } });
}
