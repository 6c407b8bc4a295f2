import {
  fieldName,
  isHostError,
  type JsonObject,
  type Problem,
  WorkBudget,
  type WorkLimits,
} from '@weft/protocol';
import type { Outcome } from '../../core/decide/step.ts';
import { resultOfCall } from '../../core/steps/worker-calls.ts';
import type { ServedBy } from '../../model/node-type.ts';
import { failure } from './served-task.ts';

/** What a worker said of the end of a call, or why that cannot be taken. */
export function checkedOutcome(
  outcome: Outcome,
  { uses, checkOutputs }: ServedBy,
  limits: WorkLimits,
): Outcome {
  if (!outcome.ok) return outcome;
  const { ask, variables, channels } = outcome;
  const wanted = { questions: ask, variables, channels };
  const undeclared = (['questions', 'variables', 'channels'] as const).find(
    (facility) => wanted[facility] !== undefined && !uses.includes(facility),
  );
  if (undeclared !== undefined)
    return failure(
      undeclared === 'questions' ? 'suspend_not_supported' : 'capability_not_provided',
      `The code of the node uses ${undeclared} of its run, and its type does not say so: add "${undeclared}" to "uses" of the type.`,
      { details: { uses: undeclared } },
    );
  const wrong = ask === undefined ? misfit('outputs', checkOutputs, outcome.outputs, limits) : undefined;
  if (wrong !== undefined || uses.length === 0) return wrong ?? outcome;
  return { ok: true, outputs: resultOfCall(outcome) };
}

type Check = (values: JsonObject, budget: WorkBudget) => readonly Problem[];

const SUBJECTS = {
  inputs: { code: 'validation_error', words: 'The inputs of the node do not fit its type' },
  outputs: { code: 'output_invalid', words: 'The worker returned outputs that do not fit the node type' },
} as const;

/** How the attempt ends when values do not fit the schema of the type; undefined when they do. */
export function misfit(
  subject: keyof typeof SUBJECTS,
  check: Check,
  values: JsonObject,
  limits: WorkLimits,
): Outcome | undefined {
  const { code, words } = SUBJECTS[subject];
  try {
    const [first, ...others] = check(values, new WorkBudget(limits));
    if (first === undefined) return undefined;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const path = `/${subject}${first.path}`;
    return failure(code, `${words}: ${path} ${first.message}${more}.`, {
      details: { field: fieldName(path), path },
    });
  } catch (error) {
    if (!isHostError(error)) throw error;
    return failure(error.code, `${words} cheaply enough to tell: ${error.message}`, {
      details: { field: subject, ...error.details },
    });
  }
}
