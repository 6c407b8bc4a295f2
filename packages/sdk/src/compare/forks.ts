import {
  type Ancestry,
  endpointOf,
  type ForkRunResponse,
  isJsonObject,
  type JsonObject,
  type RunOptions,
} from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { RunDocument, RunEventDocument } from '../documents.ts';
import { createDiffs } from './diff.ts';
import type { Idempotent } from '../runs/runs.ts';
import type { Transport } from '../requests/transport.ts';

export interface ForkRequest {
  /** A replay repeats the source by its record; a branch goes its own way. */
  readonly mode: 'replay' | 'branch';
  /** The first sequence that the fork decides itself; needed for a branch. */
  readonly fromSeq?: number;
  /** Branches only: laid over the source's options. */
  readonly runOptionsOverlay?: RunOptions;
  /** Branches only: inputs in place of the source's, by name. Weft's own. */
  readonly values?: JsonObject;
  /** Branches only: another version of the workflow. Weft's own. */
  readonly workflowVersion?: string;
}

export type ForkedRun = ForkRunResponse;
export type RunAncestry = Ancestry;

/** The node that a run failed at, and where its failing visit began. */
export interface FailedVisit {
  /** `node`, or `node[2]` inside a loop. */
  readonly node: string;
  readonly code: string;
  readonly message: string;
  readonly failedSeq: number;
  /** Sequence of the first `node.started` of that visit: a branch from here does it again. */
  readonly startedSeq: number;
}

/** Runs that begin as others, and how runs stood earlier. */
export interface Forks {
  fork(runId: string, request: ForkRequest, options?: Idempotent): ApiPromise<ForkedRun>;
  /** Which run started this one as a child. */
  ancestry(runId: string): ApiPromise<RunAncestry>;
  /** The run as it stood right after an event; after its newest when `at` is left out. */
  stateAt(runId: string, at?: number): ApiPromise<RunDocument>;
  /** Reads the log; undefined when no node has failed. */
  failedVisit(runId: string): Promise<FailedVisit | undefined>;
}

export function createForks(transport: Transport): Forks {
  const { log } = createDiffs(transport);
  return {
    fork: (runId, request, options = {}) =>
      transport.json(endpointOf(forkOperation(request), { runId }), {
        body: request,
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    ancestry: (runId) => transport.json(endpointOf('getRunAncestry', { runId })),
    stateAt: (runId, at) => transport.json(endpointOf('getRunState', { runId }), { query: { at } }),
    failedVisit: (runId) => findFailedVisit(log(runId)),
  };
}

/** The protocol's own wherever it suffices, so that any host will do. */
function forkOperation({ values, workflowVersion }: ForkRequest): 'forkRun' | 'forkRunWith' {
  return values === undefined && workflowVersion === undefined ? 'forkRun' : 'forkRunWith';
}

const ENDS_VISIT = new Set(['node.completed', 'node.failed', 'node.skipped', 'node.cancelled']);

async function findFailedVisit(log: AsyncIterable<RunEventDocument>): Promise<FailedVisit | undefined> {
  const visits = new Map<string, number>();
  /** The newest failure of each node. */
  const failures = new Map<string, FailedVisit>();
  let blamed: string | undefined;
  let runError: string | undefined;
  for await (const event of log) {
    const payload = isJsonObject(event.payload) ? event.payload : {};
    if (event.type === 'run.failed') {
      runError = errorOf(payload).code;
      if (typeof payload['failedNodeId'] === 'string') blamed = payload['failedNodeId'];
    }
    if (event.nodeId === undefined) continue;
    const node = keyOf(event.nodeId, payload);
    if (event.type === 'node.started' && !visits.has(node)) visits.set(node, event.sequence);
    if (event.type === 'node.failed') {
      const startedSeq = visits.get(node) ?? event.sequence;
      failures.delete(event.nodeId); // so that the newest is the last
      failures.set(event.nodeId, { node, ...errorOf(payload), failedSeq: event.sequence, startedSeq });
    }
    if (ENDS_VISIT.has(event.type)) visits.delete(node);
  }
  if (blamed !== undefined) return failures.get(blamed);
  // A host need not name the node. What ended the run was then the newest failure, unless it was no node's.
  const newest = [...failures.values()].at(-1);
  return newest?.code === runError ? newest : undefined;
}

function keyOf(nodeId: string, { iteration }: JsonObject): string {
  return Array.isArray(iteration) ? nodeId + iteration.map((index) => `[${String(index)}]`).join('') : nodeId;
}

function errorOf({ error }: JsonObject): Pick<FailedVisit, 'code' | 'message'> {
  const known = isJsonObject(error) ? error : {};
  return { code: String(known['code'] ?? 'failed'), message: String(known['message'] ?? '') };
}
