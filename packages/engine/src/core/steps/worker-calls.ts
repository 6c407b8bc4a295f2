import { isJsonObject, type Json, type JsonObject, type TaskMessage } from '@weft/protocol';
import { NodeFailure, type NodeResult, type StepMove, type StepRecord } from '../../model/node-type.ts';
import type { StepState } from '../../model/run-state.ts';
import { mayWrite, readableChannels } from '../channels/channels.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { LiveRun } from '../decide/live-run.ts';
import { declaredOutputs } from '../decide/node-settle.ts';
import { shownOutputs } from '../decide/recorder.ts';

/**
 * Code of users that uses its run: it asks people, or reads and sets variables and channels. A worker calls it, perhaps several times:
 *
 *   call ──asks──► question ──answer──► call ──asks──► … ──outputs──► completed
 *
 * Every call begins from the start, with the answers so far.
 *
 * J-11. All calls of one execution get the same variables and channels, those of its first call, and each the record of the call before it: what
 *       the code has seen once it sees again, also by a new holder and in a fork. All of it is kept in private overlays.
 * J-12. What the code sets is set when it completes, all of it or nothing.
 */
type TaskRun = NonNullable<TaskMessage['run']>;

const CALL = 'call-';
const ANSWER = 'answer-';

/** What one message may hold of a run. */
const MOST_SHARED = 128 * 1024;

/** The request of a call as it is recorded. */
export function requestOfCall(run: LiveRun, node: NodePlan, steps: readonly StepState[]): JsonObject {
  return steps.length === 0 ? sharedWith(run, node) : {};
}

function sharedWith(run: LiveRun, node: NodePlan): JsonObject {
  const uses = usesOf(node);
  const shared = {
    ...(uses.includes('variables') && { variables: Object.fromEntries(run.state.variables) }),
    ...(uses.includes('channels') && { channels: readable(run, node) }),
  };
  const size = JSON.stringify(shared).length;
  if (size > MOST_SHARED)
    throw new NodeFailure(
      'state_too_large',
      `The variables and channels of the run have ${size} characters of JSON; ${MOST_SHARED} at most are given to code that reads them. Keep large values outside the run.`,
      { details: { limit: MOST_SHARED, observed: size } },
    );
  return shared;
}

/** A channel whose entries are of an old version is one that the code cannot read. */
function readable(run: LiveRun, node: NodePlan): JsonObject {
  const channels = readableChannels(run, node);
  const entries: [string, Json][] = [];
  for (const name of channels.keys()) {
    try {
      entries.push([name, channels.get(name) ?? null]);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
    }
  }
  return Object.fromEntries(entries);
}

/** Who performs a call, and what it gets of its run; undefined for steps of other nodes. */
export function callOf(
  run: LiveRun,
  node: NodePlan,
  steps: readonly StepState[],
): { readonly node: NodePlan; readonly run: TaskRun } | undefined {
  if (node.type.kind !== 'steps' || node.type.called === undefined) return undefined;
  return { node: { ...node, type: node.type.called }, run: runOfCall(run, node, steps) };
}

function runOfCall({ plan }: LiveRun, node: NodePlan, steps: readonly StepState[]): TaskRun {
  const { variables, channels } = steps[0]?.request ?? {};
  const answers = steps.flatMap(({ id, result }) => (id.startsWith(ANSWER) && result ? [result] : []));
  const record = steps.findLast(({ id, result }) => id.startsWith(CALL) && result !== undefined)?.result?.[
    'record'
  ];
  return {
    answers,
    ...(isJsonObject(record) && { record }),
    ...(isJsonObject(variables) && { variables }),
    ...(isJsonObject(channels) && {
      channels,
      writable: [...plan.channels.values()]
        .filter((channel) => mayWrite(channel, node))
        .map(({ name }) => name),
    }),
  };
}

/** How a call ended, as it is recorded. */
export function resultOfCall({ outputs, ask, record, variables, channels }: NodeResult): JsonObject {
  return {
    ...(ask === undefined ? { outputs } : { ask: { ...ask } }),
    ...(record !== undefined && { record }),
    ...(variables !== undefined && { variables }),
    ...(channels !== undefined && { channels: channels.map(({ channel, value }) => ({ channel, value })) }),
  };
}

/** As others may see it: without its record, and without what is declared to be sensitive. */
export function shownResult({ plan, masking }: LiveRun, node: NodePlan, result: JsonObject): JsonObject {
  const { outputs, ask, variables, channels } = result;
  const isSecret = (name: string) =>
    (plan.channels.get(name) ?? plan.variables.get(name))?.sensitive === true;
  return {
    ...(isJsonObject(outputs) && {
      outputs: shownOutputs(node, outputs, declaredOutputs(node, outputs, undefined), masking),
    }),
    ...(ask !== undefined && { ask }),
    ...(isJsonObject(variables) && {
      variables: Object.fromEntries(Object.entries(variables).filter(([name]) => !isSecret(name))),
    }),
    ...(Array.isArray(channels) && {
      channels: channels.filter((write) => isJsonObject(write) && !isSecret(String(write['channel']))),
    }),
  };
}

/** What comes after the calls and answers on record. Throws NodeFailure. */
export function nextCall(
  history: readonly StepRecord[],
  questionOf: (ask: JsonObject) => Extract<StepMove, { ask: unknown }>['ask'],
): StepMove {
  const last = history.at(-1);
  const answers = history.filter(({ id }) => id.startsWith(ANSWER)).length;
  if (last === undefined || last.id.startsWith(ANSWER))
    return { steps: [{ id: `${CALL}${answers}`, request: {} }] };
  const { error, result = {} } = last;
  if (error !== undefined) {
    const { code, message, details } = error;
    return { failure: new NodeFailure(code, message, { ...(details !== undefined && { details }) }) };
  }
  const { outputs, ask, variables, channels } = result;
  if (isJsonObject(ask)) return { ask: questionOf(ask), step: `${ANSWER}${answers}` };
  if (!isJsonObject(outputs))
    throw new NodeFailure('replay_source_missing', 'How the call of the code ended is not on record here.');
  return {
    outputs,
    ...(isJsonObject(variables) && { variables }),
    ...(Array.isArray(channels) && {
      channels: channels
        .filter(isJsonObject)
        .map(({ channel, value = null }) => ({ channel: String(channel), value })),
    }),
  };
}

function usesOf({ type }: NodePlan): readonly string[] {
  return (type.kind === 'steps' && type.called?.servedBy.uses) || [];
}
