import type { CreationRecord, RunLimits } from '@weft/engine';

const NO_LIMITS: RunLimits = {
  nodeExecutions: 0,
  runDurationMs: 0,
  concurrency: 0,
  maxPayloadBytes: 0,
  maxStateBytes: 0,
  loopIterations: 0,
  clarificationRounds: 0,
};

type Known = Pick<CreationRecord, 'runId' | 'tenant' | 'workflowId' | 'createdAt'>;

/** What is still known of a run whose record is damaged, for lists and removals: its identity, not its work. */
export function placeholderRecord({ runId, tenant, workflowId, createdAt }: Known): CreationRecord {
  return {
    runId,
    tenant,
    workflowId,
    workflowVersion: '',
    definitionDigest: '',
    createdAt,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    transport: 'rest',
    engineVersion: 0,
    limits: NO_LIMITS,
  };
}
