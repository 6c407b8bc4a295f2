import {
  type ASTNode,
  Environment,
  EvaluationError,
  ParseError,
  TypeError as CelTypeError,
} from '@marcbachmann/cel-js';
import { type WorkBudget, BudgetExceeded, type Json, PatternError } from '@weft/protocol';
import { boundLiteralTypes } from './cel/literal-types.ts';
import { EvaluationFailure } from './cel/failure.ts';
import type { Evaluate, Frame } from './cel/frame.ts';
import { makeEvaluate, UnknownFunction } from './cel/interpreter.ts';
import { fromJson, LazyMap, toJson, type Value } from './cel/values.ts';
import { analyseExpression, describePosition } from './expression-analysis.ts';
import { readsOf, testedIn } from './expression-reads.ts';
import {
  type Expression,
  type ExpressionCompiler,
  ExpressionError,
  type ExpressionScope,
} from '../compile/plan.ts';
import { noteReads } from './scope.ts';

/**
 * CEL for conditions, ports and node configs. A library parses and checks the types; what is accepted is evaluated by our own
 * interpreter (cel/interpreter.ts), which charges everything it does.
 *
 * What bounds an expression:
 * 1. At registration: its length, its number of syntax nodes, its nesting, and comprehensions at most two deep. CEL has
 *    no loops besides those and no recursion.
 * 2. At run time: the budget of the decision that it is evaluated for, in steps and in bytes. Every visit of a part, every
 *    function by its operands, every result by its size, and at last the text of what is returned is charged before it is
 *    spent. Exceeding it cannot be caught inside the expression.
 * 3. `matches` runs on a linear-time engine that charges to the same budget.
 *
 * Numbers: integral JSON numbers are CEL ints, others doubles; both compare and calculate with each other. Division of
 * two ints is integral, as in CEL.
 */

/** What an expression may look at. `vars` is an alias of `variables`. */
export const EXPRESSION_ROOTS = [
  'inputs',
  'output',
  'outputs',
  'variables',
  'vars',
  'nodes',
  'item',
  'index',
  'iteration',
  'visit',
] as const;

const LIMITS = {
  sourceBytes: 4096,
  /** Syntax nodes, and their nesting. */
  nodes: 2000,
  depth: 64,
  /** Nesting with operators that follow each other, as in a long sum, counted too. */
  levels: 500,
  comprehensionDepth: 2,
  /** Syntax nodes of all compiled expressions that are kept for reuse. */
  keptNodes: 100_000,
} as const;

const utf8 = new TextEncoder();

export function createExpressionCompiler(
  roots: readonly string[] = EXPRESSION_ROOTS,
): Pick<ExpressionCompiler, 'compile'> {
  const environment = createEnvironment(roots);
  const kept = new Map<string, Expression>();
  let keptNodes = 0;

  return {
    compile(source) {
      const known = kept.get(source);
      if (known !== undefined) return known;
      const expression = compileSource(source, { environment, roots });
      kept.set(source, expression);
      keptNodes += expression.size;
      for (const [oldest, { size }] of kept) {
        if (keptNodes <= LIMITS.keptNodes) break;
        kept.delete(oldest);
        keptNodes -= size;
      }
      return expression;
    },
  };
}

interface Language {
  readonly environment: Environment;
  readonly roots: readonly string[];
}

function compileSource(source: string, language: Language): Expression {
  const bytes = source.length > LIMITS.sourceBytes ? source.length : utf8.encode(source).length;
  if (bytes > LIMITS.sourceBytes) {
    const message = `The expression has ${bytes} bytes, more than ${LIMITS.sourceBytes}; split it up.`;
    throw tooLarge(message, LIMITS.sourceBytes, bytes);
  }
  const program = parse(source, language);
  const size = analyseExpression(program.ast, {
    source,
    maxComprehensionDepth: LIMITS.comprehensionDepth,
    maxLevels: LIMITS.levels,
  });
  checkTypes(program, source, language);
  const reads = readsOf(program.ast);
  const evaluate = compileChecked(program.ast, source);
  const evaluateIn = (scope: ExpressionScope, budget: WorkBudget): Json => {
    noteReads(scope, reads);
    return run(source, evaluate, scope, budget);
  };
  return Object.assign(evaluateIn, { size, reads, tested: testedIn(program.ast) });
}

type Parsed = ReturnType<Environment['parse']>;

/** Whatever the library throws, here and when it checks the types, the expression is refused. */
function parse(source: string, { environment, roots }: Language): Parsed {
  try {
    return environment.parse(source);
  } catch (error) {
    throw refusal(source, error, roots);
  }
}

function checkTypes(program: Parsed, source: string, { roots }: Language): void {
  boundLiteralTypes(program.ast);
  const { valid, error } = program.check();
  if (!valid) throw refusal(source, error, roots);
}

function compileChecked(ast: ASTNode, source: string): Evaluate {
  try {
    return makeEvaluate(ast);
  } catch (error) {
    if (!(error instanceof UnknownFunction)) throw error;
    throw new ExpressionError(`${error.message}, at ${describePosition(source, error.node.start)}.`);
  }
}

function createEnvironment(roots: readonly string[]): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: LIMITS.nodes, maxDepth: LIMITS.depth },
  });
  for (const root of roots) environment.registerVariable(root, 'dyn');
  // Only the checker asks these: an integral JSON number may meet a fractional one anywhere.
  for (const sign of ['+', '-', '*', '/']) {
    environment.registerOperator(`int ${sign} double: double`, () => 0);
    environment.registerOperator(`double ${sign} int: double`, () => 0);
  }
  return environment;
}

function run(source: string, evaluate: Evaluate, scope: ExpressionScope, budget: WorkBudget): Json {
  const frame: Frame = { budget, locals: [], root: (name) => rootOf(scope, name) };
  try {
    return toJson(evaluate(frame), budget);
  } catch (error) {
    throw failureOf(source, error);
  }
}

/** Members of the scope may be getters, also inherited ones: a name that is none of the roots was refused when it was compiled. */
function rootOf(scope: ExpressionScope, name: string): Value | undefined {
  const value = scope[name] ?? (name === 'vars' ? scope['variables'] : undefined);
  return value === undefined || value instanceof LazyMap ? value : fromJson(value);
}

type CelError = ParseError | EvaluationError | CelTypeError;

function isCelError(error: unknown): error is CelError {
  return error instanceof ParseError || error instanceof EvaluationError || error instanceof CelTypeError;
}

function refusal(source: string, error: unknown, seen: readonly string[]): ExpressionError {
  if (error instanceof RangeError)
    return tooLarge('The expression is nested too deeply; split it up.', LIMITS.depth);
  if (!isCelError(error)) {
    const reason = error instanceof Error ? error.message : String(error);
    return new ExpressionError(`The expression cannot be checked: ${clip(reason)}.`);
  }
  const place = `at ${describePosition(source, error.range?.start ?? 0)}`;
  const bound = /^Exceeded \w+ \((\d+)\)/.exec(error.summary);
  if (bound !== null) return tooLarge(`${error.summary}, ${place}; split it up.`, Number(bound[1]));
  const roots = error.code === 'unknown_variable' ? ` (an expression sees ${seen.join(', ')})` : '';
  return new ExpressionError(`${clip(error.summary)}${roots}, ${place}.`);
}

function tooLarge(message: string, limit: number, observed = limit + 1): ExpressionError {
  return new ExpressionError(message, { code: 'expression_budget_exceeded', details: { limit, observed } });
}

/** What leaves an evaluation. Whatever it was, it is decided by expression, values and limits alone. */
function failureOf(source: string, error: unknown): unknown {
  const shown = source.length > 200 ? `${source.slice(0, 200)}…` : source;
  const message = (reason: string): string =>
    `Cannot evaluate "${shown}": ${clip(reason).replace(/\.$/, '')}.`;
  if (error instanceof EvaluationFailure)
    return new ExpressionError(message(error.message), { cause: error });
  if (error instanceof BudgetExceeded) {
    const { resource, limit, observed } = error;
    return new ExpressionError(
      message(`${error.message}; look at less data, or divide it among several nodes`),
      {
        code: 'expression_budget_exceeded',
        details: { resource, limit, observed },
      },
    );
  }
  if (!(error instanceof PatternError)) return error;
  const { limit = 0, observed = 0 } = error;
  return new ExpressionError(message(error.message), {
    code: 'pattern_too_costly',
    details: { limit, observed },
  });
}

const MAX_MESSAGE = 500;

function clip(text: string): string {
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

export function evaluateToBoolean(
  expression: Expression,
  scope: ExpressionScope,
  source: string,
  budget: WorkBudget,
): boolean {
  const value: Json = expression(scope, budget);
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(
    `"${clip(source)}" must give true or false, but gave ${value === null ? 'null' : typeof value}.`,
  );
}
