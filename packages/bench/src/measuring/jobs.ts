import type { Target } from '../load/http-connection.ts';

/** What the load client's process can be asked to do, and what it reports afterwards. */
export type Job = LoadJob | FloodJob | SubscribeJob | ProbeJob;

/**
 * Clients in a loop: `runs` creates a run and follows it to its end, `waited` creates it and waits for its end in one request, `post` only posts,
 * to a bare server or to a peer.
 */
export interface LoadJob {
  readonly kind: 'runs' | 'waited' | 'post';
  readonly target: Target;
  /** More of the same to spread the clients over. */
  readonly others?: readonly Target[];
  readonly workflowId: string;
  /** Where `post` goes, if not to a bare server; `{key}` becomes a new one each time. */
  readonly path?: string;
  readonly clients: number;
  readonly ms: number;
  /** Runs begun per second at most, over all clients; as many as possible without it. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly done: number;
  /** Milliseconds in which `done` was done. */
  readonly elapsedMs: number;
  readonly latencies: readonly number[];
  /** Answers of 503: the host asked to be left alone for a while, and was. */
  readonly refusals: number;
}

/** Clients that create runs, follow none, and ignore what a refusal asks for. */
export interface FloodJob {
  readonly kind: 'flood';
  readonly target: Target;
  readonly workflowId: string;
  readonly clients: number;
  readonly ms: number;
}

export interface FloodResult {
  readonly accepted: number;
  readonly refused: number;
  /** Refusals that did not say when to come back. */
  readonly unspecified: number;
  /** Every other answer, by status. */
  readonly others: Readonly<Record<string, number>>;
  /** Since the start of the flood; absent when nothing was refused. */
  readonly firstRefusalMs?: number;
}

/** Subscribers of event streams, from before the first event to the terminal one. */
export interface SubscribeJob {
  readonly kind: 'subscribe';
  readonly groups: readonly SubscriberGroup[];
}

export interface SubscriberGroup {
  readonly target: Target;
  readonly path: string;
  readonly count: number;
  /** Ask for the stream and never read it. */
  readonly stuck?: true;
}

export interface SubscribeResult {
  readonly received: number;
  readonly lost: number;
  readonly repeated: number;
  /** Streams that ended before the terminal event. */
  readonly unfinished: number;
  /** From the first live event to the last receipt. */
  readonly elapsedMs: number;
  /** From an event's own time to its receipt. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** One request after the other, until `stop`. */
export interface ProbeJob {
  readonly kind: 'probe';
  readonly target: Target;
  readonly path: string;
}

export interface ProbeResult {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

export type JobResult = LoadResult | FloodResult | SubscribeResult | ProbeResult;

/** From the process: a job that needs it says when it has begun; every job says when it is over. */
export type JobReport =
  | { readonly stage: 'begun' }
  | { readonly stage: 'over'; readonly result: JobResult }
  | { readonly stage: 'failed'; readonly message: string };

/** To the process. */
export type JobMessage = Job | { readonly kind: 'stop' };
