import { getHeapStatistics } from 'node:v8';

/**
 * Every limit of a host: its default and what it bounds, by group. Types, settings, help and the reference page are made from this,
 * so a new limit is one line here. An error that comes from a limit names the limit and what was observed.
 */
export const LIMITS = {
  Sizes: {
    maxRequestBodyBytes: [1024 * 1024, 'Bytes of a request body'],
    maxGrpcMessageBytes: [4 * 1024 * 1024, 'Bytes of an answer over gRPC, which is one message'],
    maxDefinitionBytes: [1024 * 1024, 'Bytes of a workflow definition'],
    maxDefinitionNodes: [20_000, 'Nodes of a workflow definition'],
    maxPayloadBytes: [256 * 1024, 'Bytes of the payload of one event, and so of the outputs of one node'],
    maxStateBytes: [4 * 1024 * 1024, 'Bytes of the state of a run'],
    maxMetadataBytes: [50 * 1024, 'Bytes of the metadata of a run'],
    maxArtifactBytes: [64 * 1024 * 1024, 'Bytes of one artifact'],
    maxMemoryEntryBytes: [65_536, 'Bytes of the content and tags of one memory entry'],
    maxSecretBytes: [32 * 1024, 'Bytes of the value of one secret'],
  },
  Runs: {
    expressionSteps: [
      1_000_000,
      'Steps that the expressions, patterns and schemas of one decision of a run may take',
    ],
    expressionBytes: [
      16 * 1024 * 1024,
      'Bytes of memory that the expressions, patterns and schemas of one decision may take',
    ],
    maxNodeExecutions: [10_000, 'Node executions of one run'],
    maxLoopIterations: [100, 'Decisions of the orchestrator of one run'],
    clarificationRounds: [3, 'Times one node may ask for clarification'],
    maxRunDurationMs: [0, 'Active milliseconds of a run; 0 = no limit'],
    maxInbox: [1_000, 'Commands waiting per run'],
  },
  Concurrency: {
    runConcurrency: [8, 'Effects of one run at the same time'],
    hostConcurrency: [320, 'Effects of the whole host at the same time'],
    tenantConcurrency: [
      256,
      'Effects of one tenant at the same time; if only host-concurrency is set, four fifths of it',
    ],
    hostLookups: [64, 'DNS lookups at the same time'],
    tenantLookups: [16, 'DNS lookups for one tenant at the same time'],
    hostReads: [16, 'Run states being rebuilt for readers at the same time'],
    tenantReads: [8, 'Run states being rebuilt for one tenant at the same time'],
  },
  Memory: {
    maxLiveRuns: [10_000, 'Runs in memory; more stay pending'],
    maxLiveBytes: [0, 'Bytes of memory for runs; more runs stay pending; 0 = two fifths of the heap'],
    maxPendingRuns: [100_000, 'Runs waiting for memory; above it new runs are rejected'],
    parkAfterMs: [1_000, 'Idle milliseconds after which a run leaves memory'],
    keptStateBytes: [0, 'Bytes of rebuilt run states kept for the next reader; 0 = a 64th of the heap'],
    ringEvents: [256, 'Events of one run kept in memory for live readers'],
    ringBytes: [1024 * 1024, 'Bytes of the events of one run kept in memory for live readers'],
    allRingBytes: [64 * 1024 * 1024, 'Bytes of the events of all runs kept in memory for live readers'],
    finishedBytes: [
      4 * 1024 * 1024,
      'Bytes of the logs of just ended runs kept in memory for their first reader',
    ],
  },
  Commits: {
    batchNodes: [64, 'Node executions in one decision batch'],
    batchBytes: [256 * 1024, 'Bytes in one decision batch'],
    batchMs: [5, 'Milliseconds of one decision batch'],
    checkpointEvents: [1_000, 'Events between two checkpoints of a run'],
    commitUnits: [512, 'Writes in one group commit'],
    commitBytes: [8 * 1024 * 1024, 'Bytes in one group commit'],
    maxWaitingUnits: [20_000, 'Writes waiting for a commit; above it new runs are rejected'],
    maxWaitingBytes: [64 * 1024 * 1024, 'Bytes waiting for a commit; above it new runs are rejected'],
    maxLoopDelayMs: [1_000, 'Event-loop delay in milliseconds above which new runs are rejected'],
  },
  'Commands and repeated requests': {
    commandWaitMs: [2_000, 'Milliseconds that a request waits for the result of its command'],
    idempotencyWaitMs: [5_000, 'Milliseconds that a repeated request waits for the first one'],
    idempotencyKeptMs: [24 * 60 * 60 * 1_000, 'Milliseconds that a response is kept for repeated requests'],
  },
  Retention: {
    retentionMs: [
      0,
      'Milliseconds that runs are kept after their end if their tenant has no setting; 0 = forever',
    ],
    tombstoneKeptMs: [
      30 * 24 * 60 * 60 * 1_000,
      'Milliseconds that requests for a deleted run get run_expired',
    ],
  },
  'Schedules and triggers': {
    maxSchedules: [10_000, 'Schedules of one tenant'],
    minScheduleIntervalMs: [
      1_000,
      'Milliseconds between two due times of a schedule with an interval, at least',
    ],
    maxCatchUpMs: [
      30 * 24 * 60 * 60 * 1_000,
      'Milliseconds back that a schedule may catch up what it missed',
    ],
    scheduleHorizonMs: [
      3_650 * 24 * 60 * 60 * 1_000,
      'Milliseconds ahead within which a new schedule must be due for the first time',
    ],
    scheduleLeaseMs: [
      10_000,
      'Milliseconds after which another process fires a schedule that one has begun to',
    ],
    maxTriggers: [1_000, 'Webhook triggers of one tenant'],
    maxDeliveryBytes: [256 * 1024, 'Bytes of one delivery to a webhook trigger'],
    deliveriesPerMinute: [600, 'Deliveries that one webhook trigger takes in a minute'],
    deliveryToleranceMs: [5 * 60 * 1_000, 'Milliseconds that the signed time of a delivery may be off'],
    deliveryIdsKeptMs: [24 * 60 * 60 * 1_000, 'Milliseconds that the id of a delivery is remembered'],
    maxDeadLetters: [1_000, 'Dead letters of one schedule or trigger'],
    deadLettersKeptMs: [30 * 24 * 60 * 60 * 1_000, 'Milliseconds that dead letters are kept'],
  },
  'Webhooks and links': {
    maxWebhooks: [100, 'Webhooks of one tenant'],
    maxTaskPushes: [8, 'Push notification configurations of one A2A task'],
    maxTenantPushes: [1_000, 'Push notification configurations of the open A2A tasks of one tenant'],
    webhookRefreshMs: [2_000, 'Milliseconds after which webhooks changed by another process are seen'],
    deliveryTimeoutMs: [5_000, 'Milliseconds of one attempt to deliver a callback or webhook'],
    deliveryLeaseMs: [
      60_000,
      'Milliseconds that a delivery is leased to one process; at least twice delivery-timeout-ms',
    ],
    deliveryConcurrency: [128, 'Callbacks and webhooks being sent at the same time'],
    deliveriesPerTarget: [4, 'Callbacks and webhooks being sent to one receiver at the same time'],
    maxCallbackLinkMs: [
      30 * 24 * 60 * 60 * 1_000,
      'Milliseconds that an interrupt link in a callback is accepted; never longer than its interrupt is open',
    ],
    linkKeyRefreshMs: [
      2_000,
      'Milliseconds after which a link key rotated by another process signs; its links are accepted at once',
    ],
  },
  'Connections and streams': {
    maxConnections: [10_000, 'Connections to the host'],
    headersTimeoutMs: [10_000, 'Milliseconds for the head of a request'],
    requestTimeoutMs: [60_000, 'Milliseconds for a whole request'],
    maxBytesInFlight: [0, 'Bytes of request bodies and large responses in progress; 0 = a 64th of the heap'],
    maxStreams: [5_000, 'Live streams'],
    maxStreamsPerTenant: [1_000, 'Live streams of one tenant'],
    maxPollsPerTenant: [1_000, 'Long polls of one tenant'],
    maxDownloadsPerTenant: [16, 'Bundles, diffs and logs being sent to one tenant'],
  },
  'Node types': {
    maxNodeTypes: [2_000, 'Versions of node types that workers of one tenant may register'],
    maxNodeTypeBytes: [8 * 1024 * 1024, 'Bytes of the documents of all node types of one tenant'],
  },
  Workers: {
    maxWorkers: [5_000, 'Workers connected to one process'],
    maxWorkersPerTenant: [1_000, 'Workers of one tenant connected to one process'],
    workerLeaseMs: [
      10_000,
      'Milliseconds that a worker holds its tasks without a report; never longer than claim-ttl-ms',
    ],
    workerReports: [32, 'Reports of one worker in progress at the same time'],
    taskTextBytes: [4 * 1024 * 1024, 'Bytes of text that one attempt of a task may stream'],
    taskLogLines: [1_000, 'Log lines that one attempt of a task may write'],
    taskLogBytes: [128 * 1024, 'Bytes of the log lines of one attempt of a task'],
  },
  Claims: {
    claimTtlMs: [10_000, 'Milliseconds that a claim on a run lasts without a heartbeat'],
    heartbeatMs: [3_000, 'Milliseconds between two heartbeats'],
    pollMs: [1_000, 'Milliseconds after which due runs are looked for at the latest'],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly [number, string]>>>>;

type LimitGroups = typeof LIMITS;
type LimitName = { [Group in keyof LimitGroups]: keyof LimitGroups[Group] }[keyof LimitGroups];

export type HostLimits = Readonly<Record<LimitName, number>>;

export const DEFAULT_LIMITS = Object.fromEntries(
  Object.values(LIMITS).flatMap((group) => Object.entries(group).map(([name, [value]]) => [name, value])),
) as HostLimits;

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
