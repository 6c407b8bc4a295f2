import { isJsonObject } from '@weft/protocol';
import { toNumber, toText } from '../fold/to-plain.ts';
import type { ChildCommand } from '../../ports/store.ts';
import { NOT_TRIGGERED } from '../channels/channel-triggers.ts';
import type { Plan } from '../compile/plan.ts';
import { foldPayload, namedNode, type RunEvent } from '../../model/run-event.ts';
import { nodeKey, type NodeKey, type NodeState, type RunState } from '../../model/run-state.ts';
import type { Input, NumberedChunk, Outcome } from '../decide/step.ts';
import {
  answer,
  answerOf,
  cancelOf,
  channelCommandOf,
  errorOf,
  parts,
  pauseOf,
  questionOf,
  textOf,
  variablesOf,
} from './input-of-events.ts';
import { ANSWERS, goesOn, type Group, isEnd, isPausing, ON_THE_WAY, startsGroup } from './groups.ts';

/**
 * What came from outside in a recorded run, in order: outcomes of effects, answers, what children told, the passing of time and
 * what people asked for. A replay gets these and decides everything else anew.
 *
 * An input often left several facts; its recorded input stands at the first of them. Some facts say only together with the next one what
 * they came from, so a recorded input may come out one event later than it was read.
 */
export interface RecordedInput {
  /** Of the first fact that the input led to. */
  readonly seq: number;
  readonly at: number;
  readonly input: Input;
}

export interface RecordedInputs {
  push(event: RunEvent): void;
  /** No more events will come. */
  end(): void;
  /** Inputs read so far, oldest first; the caller takes them out. */
  readonly recordedInputs: RecordedInput[];
}

interface NodeTrack {
  attempt: number;
  chunks: number;
  childRunId?: string;
  outputMapping: Record<string, string>;
}

export function createRecordedInputs(plan: Plan, state: RunState): RecordedInputs {
  const recordedInputs: RecordedInput[] = [];
  // Taken now: the state goes on while the source is read ahead.
  const tracks = new Map([...state.nodes].map(([key, node]) => [key, trackOf(node)]));
  let held: Group | undefined;

  function track(key: NodeKey): NodeTrack {
    let known = tracks.get(key);
    if (known === undefined) {
      known = trackOf(undefined);
      tracks.set(key, known);
    }
    return known;
  }

  const recorded = ({ seq, at }: RunEvent, input: Input): void =>
    void recordedInputs.push({ seq, at, input });
  const tick = (event: RunEvent): void => recorded(event, { type: 'tick' });

  function push(event: RunEvent): void {
    if (held !== undefined && goesOn(held, event, plan)) held.events.push(event);
    else {
      release();
      if (startsGroup(event, plan)) held = { first: event, events: [event] };
      else alone(event);
    }
    if (held !== undefined && isEnd(event, plan)) release();
    note(event);
  }

  /** What later facts must be read with. */
  function note(event: RunEvent): void {
    if (event.type === 'node.started') {
      const known = track(keyOf(event));
      known.attempt = toNumber(foldPayload(event).attempt ?? 0);
      known.chunks = 0;
    }
    if (event.type === 'node.dispatched') {
      const { childRunId, outputMapping = {} } = foldPayload(event);
      Object.assign(track(keyOf(event)), { childRunId: toText(childRunId), outputMapping });
    }
  }

  /** Facts that are their input's only one. */
  function alone(event: RunEvent): void {
    switch (event.type) {
      case 'run.started':
        return recorded(event, { type: 'start' });
      case 'run.resumed':
        return recorded(event, {
          type: 'command',
          command: { type: 'resume', ...textOf(foldPayload(event), 'reason') },
        });
      case 'node.started':
        if (toNumber(foldPayload(event).attempt ?? 0) > 0) tick(event);
        return;
      case 'cap.breached':
        if (foldPayload(event).kind === 'run-duration' || plan.triggers.has(event.nodeId ?? '')) tick(event);
        return;
      case 'output.chunk': {
        const key = keyOf(event);
        const known = track(key);
        const { chunk: text, isLast, meta } = foldPayload(event);
        const chunk: NumberedChunk = {
          index: known.chunks,
          chunk: toText(text),
          isLast,
          ...(isJsonObject(meta) && { meta }),
        };
        known.chunks += 1;
        return recorded(event, { type: 'progress', key, attempt: known.attempt, chunks: [chunk] });
      }
      // When a trigger fires, and when all is left to those that will not, is a matter of time.
      case 'weft.trigger.fired':
        return tick(event);
      case 'node.skipped':
        if (foldPayload(event).reason === NOT_TRIGGERED) tick(event);
        return;
      case 'channel.written':
      case 'log.appended': {
        const command = channelCommandOf(event);
        return command && recorded(event, { type: 'command', command });
      }
      case 'weft.approval.asked': {
        const { value, askedBy } = foldPayload(event);
        return recorded(event, answer(event, value ?? null, askedBy));
      }
      default: // came of an input that has been read already
    }
  }

  function release(): void {
    const group = held;
    held = undefined;
    const last = group?.events.at(-1);
    if (group === undefined || last === undefined) return;
    const input = inputOf(group, last);
    if (input !== undefined) recorded(group.first, input);
  }

  function inputOf(group: Group, last: RunEvent): Input | undefined {
    const { first } = group;
    const cancelled = group.events.find((event) => event.type === 'run.cancelled');
    if (cancelled !== undefined) return cancelOf(cancelled);
    if (isPausing(first) || group.events.some(({ type }) => type === 'run.paused')) return pauseOf(group);
    if (ANSWERS.has(first.type) || first.type === 'interrupt.resolved') return answerOf(group);
    const kind = plan.nodes.get(first.nodeId ?? '')?.type.kind;
    if (kind === 'effect') return outcomeOf(group, last);
    if (kind === 'children') return childOf(group, last);
    return kind === 'timer' ? { type: 'tick' } : undefined;
  }

  function outcomeOf(group: Group, last: RunEvent): Input | undefined {
    const key = keyOf(last);
    const outcome = (outcome: Outcome): Input => ({
      type: 'outcome',
      key,
      attempt: track(key).attempt,
      outcome,
    });
    switch (last.type) {
      case 'node.completed':
        return outcome({
          ok: true,
          outputs: foldPayload(last).outputs ?? {},
          ...parts(group.events.slice(0, -1)),
        });
      case 'interrupt.requested': {
        const before = group.events.filter(({ type }) => ON_THE_WAY.test(type));
        return outcome({ ok: true, outputs: {}, ...parts(before), ask: questionOf(foldPayload(last)) });
      }
      case 'node.failed':
        return outcome({ ok: false, error: foldPayload(last).error });
      case 'node.retried': {
        // The track already knows the next attempt only after its start, so this is the failed one.
        const { lastError: error, delayMs } = foldPayload(last);
        return error && outcome({ ok: false, error, delayMs: toNumber(delayMs ?? 0) });
      }
      default:
        return undefined;
    }
  }

  function childOf(group: Group, last: RunEvent): Input | undefined {
    const key = keyOf(last);
    const { childRunId = '', outputMapping } = track(key);
    const told = (more: Omit<ChildCommand, 'type' | 'nodeKey' | 'childRunId'>): Input => ({
      type: 'command',
      command: { type: 'child', nodeKey: key, childRunId, ...more },
    });
    switch (last.type) {
      case 'node.suspended':
        return told({ status: foldPayload(last).childStatus ?? 'running' });
      case 'node.resumed':
        return told({ status: 'running' });
      case 'node.dispatched':
        return told({ status: 'completed', ...variablesOf(group, outputMapping) });
      case 'node.completed': {
        const { outputs = {} } = foldPayload(last);
        if (typeof outputs['childRunId'] !== 'string') return undefined;
        const { childStatus, output, childError } = outputs;
        return told({
          status: String(childStatus) as ChildCommand['status'],
          ...(isJsonObject(output) && { outputs: output }),
          ...(isJsonObject(childError) && { error: errorOf(childError) }),
          ...variablesOf(group, outputMapping),
        });
      }
      case 'node.failed': {
        const { error } = foldPayload(last);
        const childStatus = error.details?.['childStatus'];
        if (typeof childStatus !== 'string') return { type: 'child-created', key, childRunId, error };
        const childError = error.details?.['childError'];
        return told({
          status: childStatus as ChildCommand['status'],
          ...(isJsonObject(childError) && { error: errorOf(childError) }),
        });
      }
      default:
        return undefined;
    }
  }

  return { recordedInputs, push, end: release };
}

/** What the prefix already knows of a node. */
function trackOf(node: NodeState | undefined): NodeTrack {
  const child = node?.child;
  return {
    attempt: node?.attempt ?? 0,
    chunks: node?.chunks ?? 0,
    outputMapping: { ...child?.outputMapping },
    ...(child !== undefined && { childRunId: child.runId }),
  };
}

function keyOf(event: RunEvent): NodeKey {
  const { nodeId = '', iteration } = namedNode(event.overlay ?? event.payload);
  return nodeKey(event.nodeId ?? nodeId, Array.isArray(iteration) ? iteration : []);
}
