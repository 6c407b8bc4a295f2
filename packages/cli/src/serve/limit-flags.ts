import type { HostLimits } from '@weft/engine';

/** One flag per limit of the engine: a new limit does not compile until it has its line here. */
const LIMIT_TEXTS: Readonly<Record<keyof HostLimits, string>> = {
  maxRequestBodyBytes: 'Bytes of a request body',
  maxDefinitionBytes: 'Bytes of a workflow definition',
  maxDefinitionNodes: 'Nodes of a workflow definition',
  expressionSteps: 'Steps that the expressions, patterns and schemas of one decision may take',
  expressionBytes: 'Bytes of memory that they may take',
  maxPayloadBytes: 'Bytes of one event’s payload, and so of one node’s outputs',
  maxStateBytes: 'Bytes of a run’s state',
  maxMetadataBytes: 'Bytes of a run’s metadata',
  maxArtifactBytes: 'Bytes of one artifact',
  maxMemoryEntryBytes: 'Bytes of one memory entry',
  maxSecretBytes: 'Bytes of one secret’s value',
  maxNodeExecutions: 'Node executions of one run',
  maxLoopIterations: 'Decisions of one run’s orchestrator',
  clarificationRounds: 'Times one node may ask for clarification',
  maxRunDurationMs: 'Active milliseconds of a run; 0 = no limit',
  runConcurrency: 'Effects of one run at the same time',
  hostConcurrency: 'Effects of the whole host at the same time',
  tenantConcurrency:
    'Effects of one tenant at the same time; where only the host’s number is set, four fifths of it',
  hostLookups: 'Names of receivers being looked up at the same time',
  tenantLookups: 'Names being looked up for one tenant at the same time',
  maxInbox: 'Commands waiting per run',
  maxLiveRuns: 'Runs in memory; more stay pending',
  maxLiveBytes: 'Bytes of memory that runs may take; more stay pending; 0 = two fifths of the heap',
  maxPendingRuns: 'Runs waiting to be taken into memory; above it new ones are refused',
  batchNodes: 'Node executions in one append at most',
  batchBytes: 'Bytes in one append at most',
  batchMs: 'Milliseconds of one pure batch at most',
  parkAfterMs: 'Idle milliseconds after which a run leaves memory',
  checkpointEvents: 'Events between two checkpoints of a run',
  commitUnits: 'Writes in one group commit at most',
  commitBytes: 'Bytes in one group commit at most',
  maxWaitingUnits: 'Writes waiting for a commit; above it new runs are refused',
  maxWaitingBytes: 'Bytes waiting for a commit; above it new runs are refused',
  maxLoopDelayMs: 'Event-loop delay above which new runs are refused',
  ringEvents: 'Events kept in memory per run for live readers',
  ringBytes: 'Bytes kept in memory per run for live readers',
  allRingBytes: 'Bytes kept in memory for live readers of all runs',
  finishedBytes: 'Bytes of just ended runs kept in memory for their first reader',
  commandWaitMs: 'How long an answer waits for the verdict on a command',
  idempotencyWaitMs: 'How long a repeated request waits for the first one',
  idempotencyKeptMs: 'How long an answer is kept for repeats',
  retentionMs: 'How long runs are kept after their end, where their tenant says nothing else; 0 = for ever',
  tombstoneKeptMs: 'How long a removed run is answered with run_expired',
  maxWebhooks: 'Webhooks of one tenant',
  webhookRefreshMs: 'How often webhooks that other processes have changed are looked for',
  deliveryTimeoutMs: 'Milliseconds of one attempt to deliver a callback or webhook',
  deliveryLeaseMs: 'How long a delivery is left to the process that has taken it',
  deliveryConcurrency: 'Callbacks and webhooks being sent at the same time',
  deliveriesPerTarget: 'Callbacks and webhooks being sent to one receiver at the same time',
  maxCallbackLinkMs: 'How long an interrupt link handed to a callback is accepted at most',
  linkKeyRefreshMs: 'How often a link key that another process has rotated is looked for',
  maxConnections: 'Connections to the host',
  headersTimeoutMs: 'Milliseconds for the head of a request',
  requestTimeoutMs: 'Milliseconds for a whole request',
  maxBytesInFlight:
    'Bytes of request bodies being worked on and of large answers being taken; 0 = a 64th of the heap',
  maxStreams: 'Live streams',
  maxStreamsPerTenant: 'Live streams of one tenant',
  maxPollsPerTenant: 'Long polls of one tenant',
  maxDownloadsPerTenant: 'Bundles, diffs and logs being sent to one tenant',
  claimTtlMs: 'How long a claim on a run lasts without renewal',
  heartbeatMs: 'How often claims are renewed',
  hostReads: 'States of runs being rebuilt at the same time for readers',
  tenantReads: 'States being rebuilt for one tenant at the same time',
  keptStateBytes: 'Memory for rebuilt states that are kept for the next reader; 0 = a 64th of the heap',
  pollMs: 'How often due runs are looked for at least',
};

export interface LimitFlag {
  readonly flag: string;
  readonly limit: keyof HostLimits;
  readonly description: string;
}

export const LIMIT_FLAGS: readonly LimitFlag[] = (Object.keys(LIMIT_TEXTS) as (keyof HostLimits)[]).map(
  (limit) => ({
    flag: flagOf(limit),
    limit,
    description: LIMIT_TEXTS[limit],
  }),
);

function flagOf(limit: keyof HostLimits): string {
  if (limit === 'maxRequestBodyBytes') return 'max-body-bytes';
  return limit.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
