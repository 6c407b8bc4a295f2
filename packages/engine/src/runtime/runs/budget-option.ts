import { compileValidator, HostError, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';

const optional = Type.Optional;
const models = Type.Array(nameOf({ minLength: 1, maxLength: 400 }), { maxItems: 100 });

/** `configurable.budget`, as far as this host keeps it. */
const BudgetSchema = Type.Object(
  {
    maxTokens: optional(Type.Integer({ minimum: 1, maximum: 1e12 })),
    maxCostUsd: optional(Type.Number({ minimum: 0, maximum: 1e6 })),
    maxToolCalls: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
    modelAllow: optional(models),
    modelDeny: optional(models),
    thresholdPercent: optional(Type.Number({ minimum: 0, maximum: 100 })),
    onExhaustion: optional(Type.Enum(['fail'])),
  },
  { additionalProperties: false },
);

const problemsOf = compileValidator(BudgetSchema);

/** Of the protocol, and not kept here: what no one would keep to must not be promised. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  maxRetries: 'settings.retry of a node says how often it is attempted',
};

/** Throws HostError that names the member. */
export function checkBudget({ budget }: JsonObject): void {
  if (budget === undefined) return;
  const [problem] = problemsOf(budget);
  if (problem === undefined) return;
  const field = `configurable.budget${problem.path.replaceAll('/', '.')}`;
  const instead = NOT_KEPT[field.split('.').at(-1) ?? ''];
  throw new HostError(
    'validation_error',
    instead === undefined
      ? `${field} ${problem.message}.`
      : `${field} is not kept by this host: leave it out; ${instead}.`,
    { field },
  );
}
