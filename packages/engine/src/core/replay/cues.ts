import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { ChildCommand } from '../../ports/store.ts';
import { NOT_TRIGGERED } from '../channels/channel-triggers.ts';
import type { Plan } from '../compile/plan.ts';
import { foldPayload, type RunEvent } from '../../model/run-event.ts';
import {
  nodeKey,
  type NodeError,
  type NodeKey,
  type NodeState,
  type RunState,
} from '../../model/run-state.ts';
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
} from './cue-inputs.ts';
import { ANSWERS, goesOn, type Group, isEnd, isPausing, ON_THE_WAY, startsGroup } from './groups.ts';

/**
 * What came from outside in a recorded run, in order: outcomes of effects, answers, what children told, the passing of time and
 * what people asked for. A replay gets these and decides everything else anew.
 *
 * An input often left several facts; its cue stands at the first of them. Some facts say only together with the next one what
 * they came from, so a cue may come out one event later than it was read.
 */
export interface Cue {
  /** Of the first fact that the input led to. */
  readonly seq: number;
  readonly at: number;
  readonly input: Input;
}

export interface CueReader {
  push(event: RunEvent): void;
  /** No more events will come. */
  end(): void;
  /** Cues read so far, oldest first; the caller takes them out. */
  readonly cues: Cue[];
}

interface NodeTrack {
  attempt: number;
  chunks: number;
  childRunId?: string;
  outputMapping: Record<string, string>;
}

export function createCueReader(plan: Plan, state: RunState): CueReader {
  const cues: Cue[] = [];
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

  const cue = ({ seq, at }: RunEvent, input: Input): void => void cues.push({ seq, at, input });
  const tick = (event: RunEvent): void => cue(event, { type: 'tick' });

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
    const payload = foldPayload(event);
    const key = keyOf(event, payload);
    if (event.type === 'node.started') {
      const known = track(key);
      known.attempt = Number(payload['attempt'] ?? 0);
      known.chunks = 0;
    }
    if (event.type === 'node.dispatched') {
      const known = track(key);
      known.childRunId = String(payload['childRunId']);
      known.outputMapping = (payload['outputMapping'] ?? {}) as Record<string, string>;
    }
  }

  /** Facts that are their input's only one. */
  function alone(event: RunEvent): void {
    const payload = foldPayload(event);
    const key = keyOf(event, payload);
    switch (event.type) {
      case 'run.started':
        return cue(event, { type: 'start' });
      case 'run.resumed':
        return cue(event, { type: 'command', command: { type: 'resume', ...textOf(payload, 'reason') } });
      case 'node.started':
        if (Number(payload['attempt'] ?? 0) > 0) tick(event);
        return;
      case 'cap.breached':
        if (payload['kind'] === 'run-duration' || plan.triggers.has(event.nodeId ?? '')) tick(event);
        return;
      case 'output.chunk': {
        const known = track(key);
        const chunk: NumberedChunk = {
          index: known.chunks,
          chunk: String(payload['chunk']),
          isLast: payload['isLast'] === true,
          ...(isJsonObject(payload['meta']) && { meta: payload['meta'] }),
        };
        known.chunks += 1;
        return cue(event, { type: 'progress', key, attempt: known.attempt, chunks: [chunk] });
      }
      // When a trigger fires, and when all is left to those that will not, is a matter of time.
      case 'weft.trigger.fired':
        return tick(event);
      case 'node.skipped':
        if (payload['reason'] === NOT_TRIGGERED) tick(event);
        return;
      case 'channel.written':
      case 'log.appended': {
        const command = channelCommandOf(payload);
        return command && cue(event, { type: 'command', command });
      }
      case 'weft.approval.asked':
        return cue(event, answer(event, payload, payload['value'] ?? null, payload['askedBy']));
    }
  }

  function release(): void {
    const group = held;
    held = undefined;
    const last = group?.events.at(-1);
    if (group === undefined || last === undefined) return;
    const input = inputOf(group, last);
    if (input !== undefined) cue(group.first, input);
  }

  function inputOf(group: Group, last: RunEvent): Input | undefined {
    const { first } = group;
    const types = new Set(group.events.map(({ type }) => type));
    if (types.has('run.cancelled')) return cancelOf(last);
    if (types.has('run.paused') || isPausing(first)) return pauseOf(group);
    if (ANSWERS.has(first.type) || first.type === 'interrupt.resolved') return answerOf(group);
    const kind = plan.nodes.get(first.nodeId ?? '')?.type.kind;
    if (kind === 'effect') return outcomeOf(group, last);
    if (kind === 'children') return childOf(group, last);
    return kind === 'timer' ? { type: 'tick' } : undefined;
  }

  function outcomeOf(group: Group, last: RunEvent): Input | undefined {
    const payload = foldPayload(last);
    const key = keyOf(last, payload);
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
          outputs: (payload['outputs'] ?? {}) as JsonObject,
          ...parts(group.events.slice(0, -1)),
        });
      case 'interrupt.requested': {
        const before = group.events.filter(({ type }) => ON_THE_WAY.test(type));
        return outcome({ ok: true, outputs: {}, ...parts(before), ask: questionOf(payload) });
      }
      case 'node.failed':
        return outcome({ ok: false, error: payload['error'] as unknown as NodeError });
      case 'node.retried': {
        // The track already knows the next attempt only after its start, so this is the failed one.
        const error = payload['lastError'] as unknown as NodeError;
        return outcome({ ok: false, error, delayMs: Number(payload['delayMs'] ?? 0) });
      }
    }
    return undefined;
  }

  function childOf(group: Group, last: RunEvent): Input | undefined {
    const payload = foldPayload(last);
    const key = keyOf(last, payload);
    const { childRunId = '', outputMapping } = track(key);
    const told = (more: Omit<ChildCommand, 'type' | 'nodeKey' | 'childRunId'>): Input => ({
      type: 'command',
      command: { type: 'child', nodeKey: key, childRunId, ...more },
    });
    switch (last.type) {
      case 'node.suspended':
        return told({ status: String(payload['childStatus']) as ChildCommand['status'] });
      case 'node.resumed':
        return told({ status: 'running' });
      case 'node.dispatched':
        return told({ status: 'completed', ...variablesOf(group, outputMapping) });
      case 'node.completed': {
        const outputs = (payload['outputs'] ?? {}) as JsonObject;
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
        const error = payload['error'] as unknown as NodeError;
        const childStatus = error.details?.['childStatus'];
        if (typeof childStatus !== 'string') return { type: 'child-created', key, childRunId, error };
        const childError = error.details?.['childError'];
        return told({
          status: childStatus as ChildCommand['status'],
          ...(isJsonObject(childError) && { error: errorOf(childError) }),
        });
      }
    }
    return undefined;
  }

  return { cues, push, end: release };
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

function keyOf(event: RunEvent, payload: JsonObject): NodeKey {
  const iteration = Array.isArray(payload['iteration']) ? (payload['iteration'] as number[]) : [];
  return nodeKey(event.nodeId ?? String(payload['nodeId'] ?? ''), iteration);
}
