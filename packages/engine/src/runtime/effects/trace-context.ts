import { traceOf } from '../../core/bundle/spans.ts';
import { type CreationRecord, type NodeKey, nodeKey } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';

/**
 * Gives the W3C traceparent of work that a run causes outside: of the node that began with the event of this sequence, or of the
 * run itself. The ids are those that the spans of the log will have, so nothing needs to be kept until they are exported.
 */
export type Traceparents = (startedSeq: number | undefined) => string;

/** The run's part is made once, when the first one is asked for. */
export function createTraceparents(record: CreationRecord): Traceparents {
  let trace: ReturnType<typeof traceOf> | undefined;
  return (startedSeq) => {
    trace ??= traceOf(record);
    // The run's own span has the number before the first event's.
    return `00-${trace.traceId}-${trace.spanId(startedSeq ?? -1)}-${flagsOf(record)}`;
  };
}

/** Sequence of the event that began this node's present attempt, where it is among these events. */
export function startOf(events: readonly StoredEvent[], key: NodeKey): number | undefined {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index];
    if (event?.type === 'node.started' && keyOf(event) === key) return event.seq;
  }
  return undefined;
}

function keyOf({ nodeId = '', payload }: StoredEvent): NodeKey {
  if (!payload.includes('"iteration":')) return nodeId;
  const { iteration } = JSON.parse(payload) as { iteration?: number[] };
  return nodeKey(nodeId, iteration ?? []);
}

/** The caller's choice whether the trace is sampled; ours is that it is. */
function flagsOf({ traceparent }: CreationRecord): string {
  return traceparent === undefined ? '01' : traceparent.slice(-2);
}
