import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Payload } from '../../model/run-event.ts';
import { type InterruptState, nodeKey } from '../../model/run-state.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { Batch } from '../decide/live-run.ts';
import { breachCap } from '../decide/run-end.ts';
import { pick } from '../json/pick.ts';
import {
  type Answer,
  type Evaluation,
  type KindRules,
  type Means,
  refused,
  schemaProblem,
} from './kind-rules.ts';

/** Questions with an id each, all of them answered at once; how often a node may ask is limited. */
export const CLARIFICATION: KindRules = {
  evaluate,
  breachesCap,
  requested: (place, shown) => ({
    type: 'clarification.requested',
    payload: { ...place, ...pick(shown, ['questions']) } as Payload<'clarification.requested'>,
  }),
  received: (place, { answers = {} }, voter) => ({
    type: 'clarification.resolved',
    payload: {
      ...place,
      answers: answers as JsonObject,
      ...(voter !== undefined && { answeredBy: voter }),
    },
  }),
};

/** Answers come as an object by question id, or as a list of {id, answer}; they are kept as an object. */
function evaluate({ data }: InterruptState, { value, by }: Answer, means: Means): Evaluation {
  const answers = answersOf(value['answers']);
  if (answers === undefined)
    return refused('resumeValue.answers must hold an answer by question id.', 'resumeValue.answers');
  const questions = data['questions'] as { id: string; schema?: JsonObject }[];
  for (const { id, schema } of questions) {
    const field = `resumeValue.answers.${id}`;
    const given = Object.hasOwn(answers, id) ? answers[id] : undefined;
    if (given === undefined) return refused(`The question "${id}" is not answered.`, field);
    const problem = schemaProblem(schema, given, means, field);
    if (problem !== undefined) return problem;
  }
  const asked = new Set(questions.map(({ id }) => id));
  const unknown = Object.keys(answers).find((id) => !asked.has(id));
  if (unknown !== undefined)
    return refused(`There is no question "${unknown}".`, `resumeValue.answers.${unknown}`);
  return { type: 'accepted', value: { ...value, answers }, voter: by };
}

function answersOf(sent: Json | undefined): JsonObject | undefined {
  if (isJsonObject(sent)) return sent;
  if (!Array.isArray(sent)) return undefined;
  const entries: [string, Json][] = [];
  for (const entry of sent) {
    if (!isJsonObject(entry) || typeof entry['id'] !== 'string' || entry['answer'] === undefined)
      return undefined;
    entries.push([entry['id'], entry['answer']]);
  }
  return Object.fromEntries(entries);
}

function breachesCap(batch: Batch, node: NodePlan, path: readonly number[]): boolean {
  const { run } = batch;
  const limit = run.record.limits.clarificationRounds;
  if ((run.state.clarifications.get(nodeKey(node.id, path)) ?? 0) < limit) return false;
  breachCap(batch, { kind: 'clarification', limit, observed: limit + 1, nodeId: node.id });
  return true;
}
