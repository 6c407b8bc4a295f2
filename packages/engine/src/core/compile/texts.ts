import {
  compileClientSchema,
  compilePattern,
  createAllowance,
  isHostError,
  type Pattern,
  PatternError,
} from '@weft/protocol';
import { type CostCode, type ExpressionCompiler, ExpressionError, type SchemaCompiler } from './plan.ts';

/**
 * Expressions, patterns and schemas of one definition. Each is bounded by itself; here they are bounded together, because what
 * is accepted stays in memory as long as the definition's plan. The same text counts once, however often it is written.
 */
export interface Texts extends ExpressionCompiler, SchemaCompiler {
  /** What they take in memory, roughly. */
  readonly bytes: number;
}

/** Measured. Programs of patterns are not kept here. */
const BYTES = { expressionNodes: 150, subschemas: 900 };

export function createTexts(expressions: Pick<ExpressionCompiler, 'compile'>): Texts {
  const allowance = createAllowance();
  const counted = new Set<string>();
  /** Once the texts are too many, no further one is read. */
  let refused: ExpressionError | undefined;

  function count(kind: 'expressionNodes' | 'patternInstructions', source: string, size: number): void {
    const key = `${kind} ${source}`;
    if (counted.has(key)) return;
    counted.add(key);
    try {
      allowance.take(kind, size);
    } catch (error) {
      if (!isHostError(error)) throw error;
      refused = new ExpressionError(error.message, { code: error.code as CostCode, details: error.details });
      throw refused;
    }
  }

  return {
    get bytes() {
      return (
        BYTES.expressionNodes * allowance.taken('expressionNodes') +
        BYTES.subschemas * allowance.taken('subschemas')
      );
    },
    compile(source) {
      if (refused !== undefined) throw refused;
      const expression = expressions.compile(source);
      count('expressionNodes', source, expression.size);
      return expression;
    },
    pattern(source) {
      if (refused !== undefined) throw refused;
      const pattern = readPattern(source);
      count('patternInstructions', source, pattern.size);
      return pattern;
    },
    schema: (schema) => compileClientSchema(schema, { allowance }),
  };
}

function readPattern(source: string): Pattern {
  try {
    return compilePattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { message, limit, observed } = error;
    if (limit === undefined || observed === undefined) throw new ExpressionError(message, { cause: error });
    throw new ExpressionError(message, { code: 'pattern_too_costly', details: { limit, observed } });
  }
}
