import type { CreationRecord, StoredEvent } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';

/** For tests: a run as the engine reports it. */
export function sampleRecord(changes: Partial<CreationRecord> = {}): CreationRecord {
  return {
    runId: '0190a000-0000-7000-8000-000000000001',
    tenant: 'acme',
    workflowId: 'orders',
    workflowVersion: '1.0',
    definitionDigest: '0'.repeat(64),
    createdAt: 1_000,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    transport: 'rest',
    engineVersion: 1,
    limits: {
      nodeExecutions: 100,
      runDurationMs: 0,
      concurrency: 1,
      maxPayloadBytes: 1_000,
      maxStateBytes: 1_000,
      loopIterations: 100,
      clarificationRounds: 3,
    },
    ...changes,
  };
}

/** A log: each entry with its type, its time and its payload. */
export function sampleEvents(...entries: [type: string, at: number, payload?: JsonObject][]): StoredEvent[] {
  return entries.map(([type, at, payload = {}], seq) => ({
    seq,
    type,
    at,
    payload: JSON.stringify(payload),
    ...(typeof payload['nodeId'] === 'string' && { nodeId: payload['nodeId'] }),
  }));
}
