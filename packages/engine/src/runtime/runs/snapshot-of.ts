import type { RunSnapshot } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import type { CreationRecord, NodeState, RunState } from '../../model/run-state.ts';
import { renderSnapshot, type SnapshotExtras, snapshotCooperatively } from '../../core/fold/snapshot.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';

/** A run with more nodes is rendered in turns with other requests. */
const LARGE_NODES = 500;

/** The run as it is now; what the caller does to the state afterwards is not seen. */
export async function snapshotOf(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  extras: SnapshotExtras,
): Promise<RunSnapshot> {
  return state.nodes.size <= LARGE_NODES
    ? renderSnapshot(plan, record, state, extras)
    : await runCooperatively(record.tenant, snapshotCooperatively(plan, record, copyOf(state), extras));
}

/** The fold changes nodes and children in place; every value that they hold is only ever replaced. */
function copyOf(state: RunState): RunState {
  const nodes = new Map<string, NodeState>();
  for (const [key, node] of state.nodes) nodes.set(key, { ...node });
  return {
    ...state,
    nodes,
    variables: new Map(state.variables),
    channels: new Map(state.channels),
    sensitiveVariables: new Map(state.sensitiveVariables),
    sensitiveChannels: new Map(state.sensitiveChannels),
    children: state.children.map((child) => ({ ...child })),
  };
}
