import { type InterruptKind, isJsonObject, type JsonObject, type WorkBudget } from '@weft/protocol';
import { deepEqual } from '../decide/conditions.ts';
import { nodeInput } from '../decide/node-context.ts';
import { toNodeError } from '../decide/node-error.ts';
import { pick } from '../json/pick.ts';
import { APPROVAL } from './approval.ts';
import { CLARIFICATION } from './clarification.ts';
import { CONVERSATION } from './conversation.ts';
import { type Answer, type Evaluation, type KindRules, refused, rejected } from './kind-rules.ts';

/** An event from outside, recognised by its correlation. */
const EXTERNAL_EVENT: KindRules = {
  evaluate: ({ data }, answer, { budget }) => evaluateEvent(data, answer, budget),
};

/** What a custom question means is known to those who ask and answer it. */
const CUSTOM: KindRules = {
  evaluate: (_, { value, by }) => ({ type: 'accepted', value, voter: by }),
};

/** A decision that was not sure enough is taken as it is, replaced, or rejected; a replacement must be one that the node can carry out. */
const LOW_CONFIDENCE: KindRules = {
  evaluate: ({ data }, answer) => evaluateDecision(data, answer),
  reason: (data) => ({ reason: 'low-confidence', ...pick(data, ['agentId', 'threshold', 'observed']) }),
  answerProblem: ({ batch, node, path }, { type, value }) => {
    const { answered } = node.type;
    if (type !== 'accepted' || answered === undefined) return undefined;
    try {
      answered(nodeInput(batch, node, path, {}), value);
      return undefined;
    } catch (error) {
      const { message } = toNodeError(error);
      return { code: 'validation_error', message, details: { field: 'resumeValue.decision' } };
    }
  },
};

/** One row per kind that a run can wait for; what a run is meanwhile, and in words, stands in the protocol's table. */
export const INTERRUPT_RULES: { readonly [Kind in InterruptKind]: KindRules } = {
  approval: APPROVAL,
  clarification: CLARIFICATION,
  'external-event': EXTERNAL_EVENT,
  custom: CUSTOM,
  'conversation.exchange': CONVERSATION,
  'low-confidence': LOW_CONFIDENCE,
};

/** Every key of the correlation must come back with the same value; what else comes is the event's own. */
function evaluateEvent(data: JsonObject, { value, by }: Answer, budget: WorkBudget): Evaluation {
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

function evaluateDecision(data: JsonObject, { value, by }: Answer): Evaluation {
  const { action } = value;
  if (value['rejected'] === true || action === 'reject')
    return rejected({ value, voter: by }, 'decision_rejected', 'The decision');
  if (value['decision'] !== undefined) return { type: 'accepted', value, voter: by };
  if (value['ratified'] === true || action === 'accept') {
    const decision = data['decision'] ?? null;
    return { type: 'accepted', value: { ...value, decision }, voter: by };
  }
  return refused(
    'resumeValue must be {"ratified": true}, {"decision": …} or {"rejected": true}.',
    'resumeValue.ratified',
  );
}
