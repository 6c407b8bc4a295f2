import { type Endpoint, endpointOf, type Json, type RunSummary } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type {
  BulkCancelAnswer,
  CreatedRun,
  EventsPage,
  NewRun,
  ResolveAnswer,
  RunCommandAnswer,
  RunDocument,
  RunExplanation,
  RunCountFilter,
  RunCounts,
  RunFilter,
  StreamMode,
} from '../documents.ts';
import { type EventStreamOptions, followRun } from '../streams/event-stream.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Streamed } from './run-events.ts';
import type { CallOptions, Transport } from '../requests/transport.ts';
import { type WaitOptions, waitForRun } from './wait.ts';

export interface Idempotent {
  /** Makes a repeat of the same request harmless. Default: a new one for each call, the same for its retries. */
  readonly idempotencyKey?: string;
}

export interface Waited {
  /** Of whole seconds: the answer comes when the run has ended, is paused or waits for someone, or after so many. At most 60. */
  readonly waitSeconds?: number;
  readonly signal?: AbortSignal;
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
  /** With `waitSeconds`, and where the host knows it, `status` and `weft.lastEvent` say where the run has come to. */
  create(run: NewRun, options?: CreateRunOptions & Waited): ApiPromise<CreatedRun>;
  /** Creates a run and waits for it, as `waitFor` does. The result is the run, whether it completed or failed. */
  createAndWait(run: NewRun, options?: CreateRunOptions & WaitOptions): Promise<RunDocument>;
  get(runId: string, options?: Waited): ApiPromise<RunDocument>;
  cancel(runId: string, options?: Idempotent & { reason?: string }): ApiPromise<RunCommandAnswer>;
  bulkCancel(
    runIds: readonly string[],
    options?: Idempotent & { reason?: string },
  ): ApiPromise<BulkCancelAnswer>;
  pause(runId: string, options?: PauseOptions): ApiPromise<RunCommandAnswer>;
  resume(runId: string, options?: Idempotent & { reason?: string }): ApiPromise<RunCommandAnswer>;
  /**
   * Answers the question a node has asked; `nodeId` is `gate`, or `gate[2]` inside a loop. The status is the run's after it:
   * still waiting where an approval needs more votes.
   */
  resolve(runId: string, nodeId: string, resumeValue: Json, options?: Idempotent): ApiPromise<ResolveAnswer>;
  /** Live events until the run ends; survives lost connections. Leave the loop to close the stream. */
  events<Mode extends StreamMode = 'updates'>(
    runId: string,
    options?: EventStreamOptions<Mode>,
  ): AsyncIterable<Streamed<Mode>>;
  /**
   * Follows the run until it has one of the statuses, or meets the test, and resolves with it as it then stands; by default until it has
   * ended. Survives lost connections. Rejects with a RunEndedError when the run ends otherwise, and with a TimeoutError after `timeoutMs`.
   */
  waitFor(runId: string, options?: WaitOptions): Promise<RunDocument>;
  poll(runId: string, options?: PollOptions): ApiPromise<EventsPage>;
  list(filter?: RunFilter): PagePromise<RunSummary>;
  /** How many were created when, by status. */
  counts(filter: RunCountFilter): ApiPromise<RunCounts>;
  /** In one sentence, what the run waits for. */
  why(runId: string): ApiPromise<RunExplanation>;
  /** Gives a quarantined run another chance; needs host:admin. */
  release(runId: string): ApiPromise<{ readonly runId: string; readonly released: true }>;
}

const LONGEST_POLL_S = 60;

export function createRuns(transport: Transport): Runs {
  const create = (run: NewRun, options: CreateRunOptions & Waited = {}): ApiPromise<CreatedRun> =>
    transport.json(endpointOf('createRun'), {
      ...held(options, {
        'idempotency-key': options.idempotencyKey,
        'x-dedup': options.exclusiveScope === true ? 'enforce' : undefined,
      }),
      body: run,
    });
  return {
    create,
    createAndWait: async (run, options = {}) => {
      const { runId } = await create(run, options);
      return waitForRun(transport, runId, options);
    },
    get: (runId, options = {}) => transport.json(endpointOf('getRun', { runId }), held(options)),
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
        heldMs: (options.timeoutSeconds ?? LONGEST_POLL_S) * 1000,
      }),
    waitFor: (runId, options) => waitForRun(transport, runId, options),
    counts: (filter) =>
      transport.json(endpointOf('countRuns'), { query: { ...filter, status: filter.status?.join(',') } }),
    list: (filter = {}) =>
      pagedList(transport, endpointOf('listRuns'), 'runs', { ...filter, status: filter.status?.join(',') }),
    release: (runId) => transport.json(endpointOf('releaseRun', { runId })),
    why: (runId) => transport.json(endpointOf('explainRun', { runId })),
  };
}

function held({ waitSeconds, signal }: Waited, headers: CallOptions['headers'] = {}): CallOptions {
  const prefer = waitSeconds === undefined ? undefined : `wait=${waitSeconds}`;
  return { headers: { ...headers, prefer }, heldMs: (waitSeconds ?? 0) * 1000, signal };
}

function command(
  transport: Transport,
  endpoint: Endpoint,
  options: PauseOptions = {},
): ApiPromise<RunCommandAnswer> {
  const { idempotencyKey, ...body } = options;
  return transport.json(endpoint, { body, headers: { 'idempotency-key': idempotencyKey } });
}
