import { compileValidator, type Json, nameOf } from '@weft/protocol';
import { Type } from 'typebox';

const closed = { additionalProperties: false };
const optional = Type.Optional;
const confidence = optional(Type.Number({ minimum: 0, maximum: 1 }));
const text = Type.String({ minLength: 1 });

/** What an orchestrator may decide. */
export const decisionSchema = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('next-worker'),
      nextWorkerIds: Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { minItems: 1 }),
      confidence,
    },
    closed,
  ),
  Type.Object({ kind: Type.Literal('ask-user'), prompt: text }, closed),
  Type.Object(
    {
      kind: Type.Literal('terminate'),
      reason: optional(text),
      confidence,
      successCriteria: optional(
        Type.Array(Type.Object({ key: nameOf({ minLength: 1 }), met: Type.Boolean() }, closed)),
      ),
    },
    closed,
  ),
]);

const validate = compileValidator(decisionSchema);

/** What is wrong with a decision, in words; undefined when nothing is. */
export function decisionProblem(decision: Json): string | undefined {
  const [problem] = validate(decision);
  return problem && `${problem.path === '' ? 'the decision' : problem.path.slice(1)} ${problem.message}`;
}
