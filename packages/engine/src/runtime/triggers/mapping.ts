import { HostError, type Json, type JsonObject, WorkBudget } from '@weft/protocol';
import { type Expression, ExpressionError } from '../../core/compile/plan.ts';
import { createExpressionCompiler } from '../../core/expressions/expressions.ts';
import type { HostLimits } from '../../host/limits.ts';

/** What an expression of a mapping sees of a delivery. */
const ROOTS = ['body', 'headers', 'deliveryId', 'receivedAt'] as const;
const MOST_INPUTS = 100;

/** Input names, each with a CEL expression. */
export type Mapping = Readonly<Record<string, string>>;

export type DeliveryScope = Readonly<Record<(typeof ROOTS)[number], Json>>;

export interface Mappings {
  /** Throws HostError that names the input whose expression is wrong. */
  check(mapping: Mapping): void;
  /** The inputs of a run. Throws ExpressionError when an expression reads what is not there, or costs too much. */
  apply(mapping: Mapping, scope: DeliveryScope): JsonObject;
}

export function createMappings(limits: Pick<HostLimits, 'expressionSteps' | 'expressionBytes'>): Mappings {
  const compiler = createExpressionCompiler(ROOTS);

  return {
    check(mapping) {
      const names = Object.keys(mapping);
      if (names.length > MOST_INPUTS) {
        const message = `inputMapping has ${names.length} inputs; at most ${MOST_INPUTS} are allowed.`;
        throw new HostError('validation_error', message, {
          field: 'inputMapping',
          limit: MOST_INPUTS,
          observed: names.length,
        });
      }
      for (const [name, source] of Object.entries(mapping)) {
        try {
          compiler.compile(source);
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
          const field = `inputMapping.${name}`;
          throw new HostError('validation_error', `${field}: ${error.message}`, { field });
        }
      }
    },
    apply(mapping, scope) {
      const budget = new WorkBudget({ steps: limits.expressionSteps, bytes: limits.expressionBytes });
      const entries = Object.entries(mapping).map(([name, source]): [string, Json] => {
        const expression: Expression = compiler.compile(source);
        return [name, expression(scope, budget)];
      });
      return Object.fromEntries(entries);
    },
  };
}
