import { fromStored } from '../fold/from-stored.ts';
import { type Cause, causeOf } from '../fold/overlay.ts';
import { toNumber, toText } from '../fold/to-plain.ts';
import type { Plan } from '../compile/plan.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { foldPayload, type RunEvent } from '../../model/run-event.ts';
import {
  effectKey,
  type EffectKey,
  type NodeKey,
  type NodeState,
  type RunState,
} from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';
import type { Input } from '../decide/step.ts';
import { inputOf, keyOf, type RecordedNode, stepIn } from './input-of-events.ts';

/**
 * What came from outside in a recorded run, in order: outcomes of effects, answers, signals of children, commands and the passing of time.
 * A replay gets these and decides everything else again. The log says where a unit begins and what caused it (overlay.ts); what the input
 * brought with it is read from the unit's events.
 */
export interface RecordedInput {
  /** Of the first fact that the input led to. */
  readonly seq: number;
  readonly at: number;
  readonly input: Input;
}

export interface RecordedInputs {
  push(event: StoredEvent): void;
  /** No more events will come. */
  end(): void;
  /** Inputs of the units that were read to their end, oldest first; the caller takes them out. */
  readonly recordedInputs: RecordedInput[];
  /** Where the unit begins that is not yet read to its end. */
  openFrom(): number | undefined;
}

interface Unit {
  /** Undefined for the rest of a unit whose beginning was not read. */
  readonly cause: Cause | undefined;
  readonly events: RunEvent[];
}

/** `state` is that before the first event; `runId` names the log in errors. */
export function createRecordedInputs(plan: Plan, state: RunState, runId: string): RecordedInputs {
  const recordedInputs: RecordedInput[] = [];
  // Taken now: the state changes while the source is read ahead.
  const nodes = new Map<EffectKey, RecordedNode>();
  for (const [key, node] of state.nodes) {
    nodes.set(key, recordedNode(node));
    for (const step of node.steps ?? []) nodes.set(effectKey(key, step.id), recordedNode(step));
  }
  /** Where nodes started last. */
  const starts = new Map<NodeKey, { readonly unitSeq: number; readonly at: number }>();
  let unit: Unit = { cause: undefined, events: [] };

  function nodeOf(key: EffectKey): RecordedNode {
    let known = nodes.get(key);
    if (known === undefined) {
      known = recordedNode(undefined);
      nodes.set(key, known);
    }
    return known;
  }

  function push(stored: StoredEvent): void {
    const cause = causeOf(stored);
    if (cause !== undefined) {
      end();
      unit = { cause, events: [] };
    }
    const event = fromStored(stored, runId);
    unit.events.push(event);
    checkCause(event, unit.events[0]?.seq ?? event.seq);
  }

  /** A log without causes would be taken for one long unit. */
  function checkCause(event: RunEvent, unitSeq: number): void {
    const { seq, at } = event;
    if (event.type === 'node.started') starts.set(keyOf(event), { unitSeq, at });
    const started = starts.get(keyOf(event));
    if (started === undefined || started.unitSeq !== unitSeq || !isMoved(event, started.at)) return;
    throw new DamagedRunError(
      runId,
      seq,
      `The log of run ${runId} does not say what caused event ${seq}, so the run cannot be replayed. Fork it with mode "branch".`,
    );
  }

  /** Whether the fact came of an input to a node that had started before. */
  function isMoved(event: RunEvent, startedAt: number): boolean {
    if (event.type === 'interrupt.resolved') return foldPayload(event).reason !== 'timeout';
    if (event.type === 'weft.step.completed') return true;
    if (event.type !== 'node.completed') return false;
    const kind = plan.nodes.get(event.nodeId ?? '')?.type.kind;
    if (kind === 'children') return foldPayload(event).outputs?.['childRunId'] !== undefined;
    return kind === 'effect' || (kind === 'timer' && event.at > startedAt);
  }

  function end(): void {
    const { cause, events } = unit;
    unit = { cause: undefined, events: [] };
    const [first] = events;
    if (first === undefined) return;
    if (cause !== undefined) {
      // Of the replay that recorded them, and not of an input.
      const facts = events.filter(({ type }) => type !== 'replay.diverged');
      recordedInputs.push({ seq: first.seq, at: first.at, input: inputOf(cause, facts, nodeOf) });
    }
    for (const event of events) note(event);
  }

  /** What later units must be read with. */
  function note(event: RunEvent): void {
    if (event.type === 'node.started')
      Object.assign(nodeOf(keyOf(event)), { attempt: toNumber(foldPayload(event).attempt ?? 0), chunks: 0 });
    const step = stepIn(event);
    if (event.type === 'weft.step.started' && step !== undefined) {
      const { attempt } = foldPayload(event);
      Object.assign(nodeOf(effectKey(keyOf(event), step)), { attempt: toNumber(attempt), chunks: 0 });
    }
    if (event.type === 'node.dispatched') {
      const { childRunId, outputMapping = {} } = foldPayload(event);
      Object.assign(nodeOf(keyOf(event)), { childRunId: toText(childRunId), outputMapping });
    }
  }

  return { recordedInputs, push, end, openFrom: () => unit.events[0]?.seq };
}

/** What the prefix already knows of a node. */
function recordedNode(node: Pick<NodeState, 'attempt' | 'chunks' | 'child'> | undefined): RecordedNode {
  const child = node?.child;
  return {
    attempt: node?.attempt ?? 0,
    chunks: node?.chunks ?? 0,
    outputMapping: { ...child?.outputMapping },
    childRunId: child?.runId ?? '',
  };
}
