import { getHeapStatistics } from 'node:v8';

/**
 * Every limit of a host, with its default. Each is a flag of the command line; an error that comes from one names the limit
 * and what was observed.
 */
export interface HostLimits {
  /** Bytes of a request body. */
  readonly maxRequestBodyBytes: number;
  readonly maxDefinitionBytes: number;
  readonly maxDefinitionNodes: number;
  /** Steps that the expressions, patterns and schemas of one decision of a run may take. */
  readonly expressionSteps: number;
  /** Bytes of memory that they may take. */
  readonly expressionBytes: number;
  /** Bytes of one event's payload, and so of one node's outputs. */
  readonly maxPayloadBytes: number;
  readonly maxStateBytes: number;
  readonly maxMetadataBytes: number;
  /** Bytes of one artifact. */
  readonly maxArtifactBytes: number;
  /** Bytes of one memory entry's content and tags. */
  readonly maxMemoryEntryBytes: number;
  /** Bytes of one secret's value. */
  readonly maxSecretBytes: number;
  readonly maxNodeExecutions: number;
  /** Decisions of one run's orchestrator. */
  readonly maxLoopIterations: number;
  /** Times one node may ask for clarification. */
  readonly clarificationRounds: number;
  /** Active milliseconds of a run; 0 = unlimited. */
  readonly maxRunDurationMs: number;
  /** Effects of one run at the same time. */
  readonly runConcurrency: number;
  /** Effects of the whole host at the same time. */
  readonly hostConcurrency: number;
  /** Effects of one tenant at the same time; where only the host's number is set, four fifths of it. */
  readonly tenantConcurrency: number;
  /** Names of receivers being looked up at the same time, in all and for one tenant. */
  readonly hostLookups: number;
  readonly tenantLookups: number;
  /** Commands waiting per run. */
  readonly maxInbox: number;
  /** Runs whose state is in memory; more stay pending. */
  readonly maxLiveRuns: number;
  /** Bytes of memory that runs may take; more stay pending. 0 = two fifths of the heap. */
  readonly maxLiveBytes: number;
  /** Runs created but not yet taken into memory; above it new ones are refused. */
  readonly maxPendingRuns: number;

  /** Where a pure batch ends at the latest. */
  readonly batchNodes: number;
  readonly batchBytes: number;
  readonly batchMs: number;
  /** A run with nothing to do for longer than this leaves memory. */
  readonly parkAfterMs: number;
  readonly checkpointEvents: number;

  /** One group of writes. */
  readonly commitUnits: number;
  readonly commitBytes: number;
  /** Writes that wait for a group; above either one, new runs are refused. */
  readonly maxWaitingUnits: number;
  readonly maxWaitingBytes: number;
  /** Event-loop delay above which new runs are refused. */
  readonly maxLoopDelayMs: number;

  readonly ringEvents: number;
  readonly ringBytes: number;
  /** Of the rings of all runs that are listened to. */
  readonly allRingBytes: number;
  /** Logs of runs that have just ended, kept in memory for their first reader. */
  readonly finishedBytes: number;
  /** How long a command's answer waits for its verdict. */
  readonly commandWaitMs: number;
  /** How long a repeated request waits for the first one. */
  readonly idempotencyWaitMs: number;
  readonly idempotencyKeptMs: number;

  /** How long runs are kept after their end where their tenant says nothing else; 0 = for ever. */
  readonly retentionMs: number;
  /** How long a removed run is answered with `run_expired`. */
  readonly tombstoneKeptMs: number;

  /** Webhooks of one tenant. */
  readonly maxWebhooks: number;
  /** Webhooks changed by another process are seen at the latest after this. */
  readonly webhookRefreshMs: number;
  /** One attempt to deliver a callback or webhook. */
  readonly deliveryTimeoutMs: number;
  /** How long a delivery is left to the process that has taken it; at least twice the timeout. */
  readonly deliveryLeaseMs: number;
  /** Callbacks and webhooks being sent at the same time, in all and to one receiver. */
  readonly deliveryConcurrency: number;
  readonly deliveriesPerTarget: number;

  /** How long a link that was handed to a callback is accepted at most; never after its question's end. */
  readonly maxCallbackLinkMs: number;
  /** A link key rotated by another process is signed with at the latest after this; its links are accepted at once. */
  readonly linkKeyRefreshMs: number;

  /** Connections to the host. */
  readonly maxConnections: number;
  /** For the head of a request, and for all of it. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Bytes of request bodies being worked on, and of large answers being taken; 0 = a 64th of the heap. */
  readonly maxBytesInFlight: number;
  /** Live streams, in all and of one tenant. */
  readonly maxStreams: number;
  readonly maxStreamsPerTenant: number;
  /** Long polls of one tenant. */
  readonly maxPollsPerTenant: number;
  /** Bundles, diffs and logs being sent to one tenant. */
  readonly maxDownloadsPerTenant: number;

  readonly claimTtlMs: number;
  readonly heartbeatMs: number;
  /** States of runs being rebuilt at the same time for readers, in all and of one tenant. */
  readonly hostReads: number;
  readonly tenantReads: number;
  /** Memory for rebuilt states that are kept for the next reader; 0 = a 64th of the heap. */
  readonly keptStateBytes: number;

  /** Runs that are due are looked for at least this often. */
  readonly pollMs: number;
}

export const DEFAULT_LIMITS: HostLimits = {
  maxRequestBodyBytes: 1024 * 1024,
  maxDefinitionBytes: 1024 * 1024,
  maxDefinitionNodes: 20_000,
  expressionSteps: 1_000_000,
  expressionBytes: 16 * 1024 * 1024,
  maxPayloadBytes: 256 * 1024,
  maxStateBytes: 4 * 1024 * 1024,
  maxMetadataBytes: 50 * 1024,
  maxArtifactBytes: 64 * 1024 * 1024,
  maxMemoryEntryBytes: 65_536,
  maxSecretBytes: 32 * 1024,
  maxNodeExecutions: 100,
  maxLoopIterations: 100,
  clarificationRounds: 3,
  maxRunDurationMs: 0,
  runConcurrency: 8,
  hostConcurrency: 320,
  tenantConcurrency: 256,
  hostLookups: 64,
  tenantLookups: 16,
  maxInbox: 1_000,
  maxLiveRuns: 10_000,
  maxLiveBytes: 0,
  maxPendingRuns: 100_000,

  batchNodes: 64,
  batchBytes: 256 * 1024,
  batchMs: 5,
  parkAfterMs: 1_000,
  checkpointEvents: 1_000,

  commitUnits: 512,
  commitBytes: 8 * 1024 * 1024,
  maxWaitingUnits: 20_000,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxLoopDelayMs: 1_000,

  ringEvents: 256,
  ringBytes: 1024 * 1024,
  allRingBytes: 64 * 1024 * 1024,
  finishedBytes: 4 * 1024 * 1024,
  commandWaitMs: 2_000,
  idempotencyWaitMs: 5_000,
  idempotencyKeptMs: 24 * 60 * 60 * 1_000,

  retentionMs: 0,
  tombstoneKeptMs: 30 * 24 * 60 * 60 * 1_000,

  maxWebhooks: 100,
  webhookRefreshMs: 2_000,
  deliveryTimeoutMs: 5_000,
  deliveryLeaseMs: 60_000,
  deliveryConcurrency: 128,
  deliveriesPerTarget: 4,

  maxCallbackLinkMs: 30 * 24 * 60 * 60 * 1_000,
  linkKeyRefreshMs: 2_000,

  maxConnections: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  maxBytesInFlight: 0,
  maxStreams: 5_000,
  maxStreamsPerTenant: 1_000,
  maxPollsPerTenant: 1_000,
  maxDownloadsPerTenant: 16,

  claimTtlMs: 10_000,
  heartbeatMs: 3_000,
  hostReads: 16,
  tenantReads: 8,
  keptStateBytes: 0,

  pollMs: 1_000,
};

/** Part of a host's effects and memory that one tenant may have: others always find a place that is free. */
export const TENANT_SHARE = 0.8;

/** Limits on memory, as a part of the heap that this process may have. */
const HEAP_SHARES = { maxLiveBytes: 2 / 5, maxBytesInFlight: 1 / 64, keptStateBytes: 1 / 64 } as const;

/** The defaults, with those worked out that depend on another limit or on the memory there is. */
export function limitsFrom(
  given: Partial<HostLimits> = {},
  heapBytes = getHeapStatistics().heap_size_limit,
): HostLimits {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const ofHeap = (limit: keyof typeof HEAP_SHARES): number =>
    limits[limit] > 0 ? limits[limit] : Math.floor(heapBytes * HEAP_SHARES[limit]);
  return {
    ...limits,
    maxLiveBytes: ofHeap('maxLiveBytes'),
    maxBytesInFlight: ofHeap('maxBytesInFlight'),
    keptStateBytes: ofHeap('keptStateBytes'),
    tenantConcurrency:
      given.tenantConcurrency ?? Math.max(Math.floor(limits.hostConcurrency * TENANT_SHARE), 1),
  };
}
