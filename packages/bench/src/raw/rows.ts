import { nodeId, type Workload } from '../load/workloads.ts';

/** The rows a run leaves, as the bare sketch writes them: the same number and about the same size as the host's own. */
export interface RawEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  /** Since the run's creation. */
  readonly afterMs: number;
  readonly nodeId: string | null;
  readonly payload: string;
}

/** What an HTTP node of the host outputs for the echo server's answer. */
const ECHO_OUTPUTS = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: { ok: true },
  output: { ok: true },
};

/** The log of a run in order; the sketch appends it in the batches that `batchesOf` cuts. */
export function eventsOf(workload: Workload, at: number): RawEvent[] {
  const events: RawEvent[] = [];
  const result = workload.effects ? { outputs: ECHO_OUTPUTS } : {};
  const add = (type: string, node: string | null, payload: object) =>
    events.push({ seq: events.length, type, at, afterMs: 0, nodeId: node, payload: JSON.stringify(payload) });

  add('run.started', null, { workflowId: workload.workflowId, transport: 'rest' });
  for (let index = 0; index < workload.nodes; index += 1) {
    const id = nodeId(index);
    const typeId = workload.effects ? 'core.http.request' : 'core.noop';
    add('node.started', id, { nodeId: id, typeId, attempt: 0 });
    add('node.completed', id, { nodeId: id, ...result });
  }
  add('run.completed', null, result);
  return events;
}

/**
 * Where the log must be durable before the run continues: nowhere for pure nodes (one batch), and for effects after every
 * `node.started`. So E needs one commit to begin and one per outcome.
 */
export function batchesOf(workload: Workload, events: readonly RawEvent[]): RawEvent[][] {
  if (!workload.effects) return [[...events]];
  const batches: RawEvent[][] = [[]];
  for (const event of events) {
    batches.at(-1)?.push(event);
    if (event.type === 'node.started') batches.push([]);
  }
  return batches;
}
