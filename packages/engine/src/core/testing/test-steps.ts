import { Type } from 'typebox';
import { NodeFailure, type StepMove, type StepRecord, type StepsNodeType } from '../../model/node-type.ts';

/**
 * Works in rounds: `config.rounds` says how many steps each has; a round of none asks for an approval, one of nine runs a child. Every
 * second step must not be repeated when no one knows whether it happened. A failed step fails the node, unless the node absorbs it.
 */
export const testSteps: StepsNodeType = {
  kind: 'steps',
  typeId: 'test.steps',
  title: 'Test steps',
  summary: 'Works in rounds, as the test says.',
  config: Type.Object(
    { rounds: Type.Array(Type.Integer({ minimum: 0, maximum: 9 })), absorbs: Type.Optional(Type.Boolean()) },
    { additionalProperties: false },
  ),
  next({ config }, history) {
    const rounds = config['rounds'] as number[];
    const failed = history.find(({ error }) => error !== undefined);
    if (failed?.error !== undefined && config['absorbs'] !== true) {
      const { code, message } = failed.error;
      return { failure: new NodeFailure(code, message), events: roundEvents(history) };
    }
    for (const [round, size] of rounds.entries()) {
      const move = moveOf(round, size, history);
      if (move !== undefined) return { ...move, events: roundEvents(history) };
    }
    return { outputs: { output: 'yes', results: history.map(({ result }) => result ?? null) } };
  },
  perform: () => Promise.reject(new Error('The core never performs effects.')),
};

function moveOf(round: number, size: number, history: readonly StepRecord[]): StepMove | undefined {
  if (size === 0) return question(`r${round}.ask`, history);
  return size === 9 ? child(`r${round}.child`, history) : group(round, size, history);
}

function child(step: string, history: readonly StepRecord[]): StepMove | undefined {
  if (history.some(({ id }) => id === step)) return undefined;
  return { child: { workflowId: 'child-workflow', inputs: { step } }, step };
}

function group(round: number, size: number, history: readonly StepRecord[]): StepMove | undefined {
  const missing = Array.from({ length: size }, (_, index) => ({
    id: `r${round}.${index}`,
    request: { round, index },
    ...(index % 2 === 1 && { onUnknownOutcome: 'fail' as const }),
  })).filter(({ id }) => !history.some((step) => step.id === id));
  return missing.length === 0 ? undefined : { steps: missing };
}

function question(step: string, history: readonly StepRecord[]): StepMove | undefined {
  if (history.some(({ id }) => id === step)) return undefined;
  return {
    ask: {
      kind: 'approval',
      data: { artifactId: step, artifactType: 'step', actions: ['accept', 'reject'] },
    },
    step,
  };
}

/** One fact for each step of the last round. */
function roundEvents(
  history: readonly StepRecord[],
): { type: string; payload: { agentId: string; reasoning: string } }[] {
  const last = history.at(-1)?.round;
  return history
    .filter(({ round }) => round === last)
    .map(({ id }) => ({ type: 'agent.reasoned', payload: { agentId: 'test', reasoning: id } }));
}
