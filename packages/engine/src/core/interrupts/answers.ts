import {
  type Allowance,
  compileClientSchema,
  createAllowance,
  type ErrorCode,
  HostError,
  isJsonObject,
  type Json,
  type JsonObject,
  nameProblem,
  type WorkBudget,
} from '@weft/protocol';
import { deepEqual } from '../decide/conditions.ts';
import type { InterruptState, Vote } from '../../model/run-state.ts';

/**
 * Judges answers to interrupts. Pure: the question as it stands, what was answered and by whom, in; what becomes of it, out.
 *
 * - `refused`: wrong in form or not allowed; the question stays open and nothing is recorded.
 * - `vote`: counted, but more voices are needed.
 * - `noted`: a question back; it is kept, and the interrupt stays open.
 * - `turn`: a turn of a conversation; the conversation goes on.
 * - `accepted` / `rejected`: the interrupt is over.
 */
export type Evaluation =
  | {
      readonly type: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: JsonObject;
    }
  | {
      readonly type: 'vote' | 'noted' | 'turn' | 'accepted' | 'rejected';
      readonly value: JsonObject;
      readonly voter: string;
    };

export interface Answer {
  readonly value: Json;
  readonly by: string;
  readonly byUser: boolean;
  readonly viaLink: boolean;
}

/** What holding an answer against the schemas of its question may cost. */
interface Means {
  readonly budget: WorkBudget;
  readonly allowance: Allowance;
}

export function evaluate(interrupt: InterruptState, answer: Answer, budget: WorkBudget): Evaluation {
  const { value } = answer;
  const means: Means = { budget, allowance: createAllowance() };
  if (!isJsonObject(value)) return wrong('resumeValue must be an object.', 'resumeValue');
  const problem = schemaProblem(interrupt.resumeSchema, value, means);
  if (problem !== undefined) return problem;
  switch (interrupt.kind) {
    case 'approval':
      return evaluateApproval(interrupt, value, answer);
    case 'clarification':
      return evaluateClarification(interrupt.data, value, answer.by, means);
    case 'external-event':
      return evaluateEvent(interrupt.data, value, answer.by, budget);
    case 'custom':
      return { type: 'accepted', value, voter: answer.by };
    case 'low-confidence':
      return evaluateDecision(interrupt.data, value, answer.by);
    case 'conversation.exchange':
      return evaluateTurn(interrupt.data, value, answer.by, means);
  }
}

/** A decision that was not sure enough is taken as it is, replaced, or rejected. */
function evaluateDecision(data: JsonObject, value: JsonObject, by: string): Evaluation {
  const { action } = value;
  if (value['rejected'] === true || action === 'reject') return { type: 'rejected', value, voter: by };
  if (value['decision'] !== undefined) return { type: 'accepted', value, voter: by };
  if (value['ratified'] === true || action === 'accept') {
    const decision = data['decision'] ?? null;
    return { type: 'accepted', value: { ...value, decision }, voter: by };
  }
  return wrong(
    'resumeValue must be {"ratified": true}, {"decision": …} or {"rejected": true}.',
    'resumeValue.ratified',
  );
}

/** One turn, or the end, of a conversation. */
function evaluateTurn(data: JsonObject, value: JsonObject, by: string, means: Means): Evaluation {
  const operation = value['operation'] ?? (value['close'] === true ? 'close' : 'exchange');
  if (operation === 'close') return { type: 'accepted', value, voter: by };
  if (operation !== 'exchange') {
    return wrong('resumeValue.operation must be exchange or close.', 'resumeValue.operation', {
      allowed: ['exchange', 'close'],
    });
  }
  const content = turnContent(value);
  if (content === undefined) return wrong('A turn needs resumeValue.content.', 'resumeValue.content');
  const schema = isJsonObject(data['outcomeSchema']) ? data['outcomeSchema'] : undefined;
  return (
    schemaProblem(schema, content, means, 'resumeValue.content') ?? {
      type: 'turn',
      value: { ...value, content },
      voter: by,
    }
  );
}

function turnContent(value: JsonObject): Json | undefined {
  if (value['content'] !== undefined) return value['content'];
  return isJsonObject(value['turn']) ? value['turn']['content'] : undefined;
}

function evaluateApproval(interrupt: InterruptState, sent: JsonObject, answer: Answer): Evaluation {
  const value = withAction(sent);
  const { data } = interrupt;
  const allowed = data['actions'] as string[];
  const action = value['action'];
  if (typeof action !== 'string' || !allowed.includes(action)) {
    return wrong(`resumeValue.action must be one of ${allowed.join(', ')}.`, 'resumeValue.action', {
      allowed,
    });
  }
  if (action === 'edit-accept' && value['editedArtifactData'] === undefined) {
    return wrong('edit-accept needs resumeValue.editedArtifactData.', 'resumeValue.editedArtifactData');
  }
  const voter = voterOf(data, value, answer);
  if (typeof voter !== 'string') return voter;
  if (action === 'ask') return { type: 'noted', value, voter };
  const votes: Vote[] = [...interrupt.votes.filter((vote) => vote.voter !== voter), { voter, action }];
  return { type: tally(data, votes), value, voter };
}

/** Accepted with enough accepting voices; rejected by the first rejection, or by a majority of those required. */
function tally(data: JsonObject, votes: readonly Vote[]): 'vote' | 'accepted' | 'rejected' {
  const required = typeof data['requiredApprovals'] === 'number' ? data['requiredApprovals'] : 1;
  const rejects = votes.filter(({ action }) => action === 'reject').length;
  const needed = data['rejectionPolicy'] === 'majority' ? Math.floor(required / 2) + 1 : 1;
  if (rejects >= needed) return 'rejected';
  return votes.length - rejects >= required ? 'accepted' : 'vote';
}

/**
 * A user's own identity is the voter. A service key may speak for somebody only where nobody in particular was asked. A link is
 * one voice, whatever names its holder gives.
 */
function voterOf(data: JsonObject, value: JsonObject, answer: Answer): string | Evaluation {
  const named = value['voter'];
  const list = Array.isArray(data['approversList']) ? (data['approversList'] as string[]) : [];
  const voter =
    !answer.byUser && !answer.viaLink && list.length === 0 && typeof named === 'string' && named !== ''
      ? named
      : answer.by;
  const problem = nameProblem(voter);
  if (problem !== undefined) return wrong(`resumeValue.voter ${problem}.`, 'resumeValue.voter');
  if (list.length === 0 || list.includes(voter)) return voter;
  return {
    type: 'refused',
    code: 'forbidden',
    message: 'This question is for others to answer: the key’s principal is not in approversList.',
  };
}

const LEGACY_DECISIONS: Readonly<Record<string, string>> = { approved: 'accept', rejected: 'reject' };

/** Older clients send a decision instead of an action; a rejection with feedback asks for refinement. */
function withAction(value: JsonObject): JsonObject {
  const decision = value['decision'];
  if (value['action'] !== undefined || typeof decision !== 'string') return value;
  const { decision: _dropped, ...rest } = value;
  if (decision === 'rejected' && typeof value['feedback'] === 'string') {
    return { ...rest, action: 'refine', refineFeedback: { scope: 'whole', text: value['feedback'] } };
  }
  return { ...rest, action: LEGACY_DECISIONS[decision] ?? decision };
}

/** Answers come as an object by question id, or as a list of {id, answer}; they are kept as an object. */
function evaluateClarification(data: JsonObject, value: JsonObject, by: string, means: Means): Evaluation {
  const answers = answersOf(value['answers']);
  if (answers === undefined)
    return wrong('resumeValue.answers must hold an answer by question id.', 'resumeValue.answers');
  const questions = data['questions'] as { id: string; schema?: JsonObject }[];
  for (const { id, schema } of questions) {
    const field = `resumeValue.answers.${id}`;
    const given = Object.hasOwn(answers, id) ? answers[id] : undefined;
    if (given === undefined) return wrong(`The question "${id}" is not answered.`, field);
    const problem = schemaProblem(schema, given, means, field);
    if (problem !== undefined) return problem;
  }
  const asked = new Set(questions.map(({ id }) => id));
  const unknown = Object.keys(answers).find((id) => !asked.has(id));
  if (unknown !== undefined)
    return wrong(`There is no question "${unknown}".`, `resumeValue.answers.${unknown}`);
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

/** Every key of the correlation must come back with the same value; what else comes is the event's own. */
function evaluateEvent(data: JsonObject, value: JsonObject, by: string, budget: WorkBudget): Evaluation {
  const correlation = isJsonObject(data['correlation']) ? data['correlation'] : {};
  const wrongKeys = Object.keys(correlation).filter(
    (key) => !deepEqual(correlation[key] ?? null, value[key] ?? null, budget),
  );
  if (wrongKeys.length === 0) return { type: 'accepted', value, voter: by };
  return {
    type: 'refused',
    code: 'correlation_mismatch',
    message: `The event does not belong to this question: ${wrongKeys.join(', ')} differ.`,
    details: { field: `resumeValue.${wrongKeys[0] ?? ''}`, correlation: Object.keys(correlation) },
  };
}

function schemaProblem(
  schema: JsonObject | undefined,
  value: Json,
  { budget, allowance }: Means,
  field = 'resumeValue',
): Evaluation | undefined {
  if (schema === undefined) return undefined;
  try {
    const [problem] = compileClientSchema(schema, { allowance })(value, budget);
    return (
      problem &&
      wrong(`${field}${problem.path} ${problem.message}.`, `${field}${problem.path.replaceAll('/', '.')}`)
    );
  } catch (error) {
    // A question that code asked brings a schema that nobody has looked at before.
    if (!(error instanceof HostError)) throw error;
    const { code, message, details } = error;
    return { type: 'refused', code, message, details: { ...details, field } };
  }
}

function wrong(message: string, field: string, more: JsonObject = {}): Evaluation {
  return { type: 'refused', code: 'validation_error', message, details: { field, ...more } };
}
