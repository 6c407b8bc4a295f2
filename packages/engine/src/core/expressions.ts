import {
  type ASTNode,
  Environment,
  EvaluationError,
  ParseError,
  TypeError as CelTypeError,
} from '@marcbachmann/cel-js';
import type { Json, JsonObject } from '@weft/protocol';
import { analyseExpression, describePosition } from './expression-analysis.ts';
import { fromCel, type Meter, projectScope, type Sizes, sizeOf } from './expression-values.ts';
import { compileLinearRegex, type LinearRegex } from './linear-regex.ts';
import { type Expression, type ExpressionCompiler, ExpressionError } from './plan.ts';

/**
 * CEL for conditions, ports and node configs.
 *
 * What bounds an expression:
 * 1. At registration: its length, its number of syntax nodes, its nesting, and comprehensions at most two deep. CEL has
 *    no loops besides those and no recursion; `cel.bind`, with which values could be doubled and doubled, is refused.
 * 2. At run time: one budget per evaluation. Every read of data is charged with the size of what was read (the source is
 *    rewritten so that each read passes `__read`). A comprehension runs as often as the list it reads is long, and that
 *    read was charged; so steps and results are bounded by the budget too.
 * 3. `matches` runs on a linear-time engine with its own bounds (linear-regex.ts).
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

export interface ExpressionLimits {
  readonly maxSourceBytes: number;
  /** Syntax nodes and their nesting, the charged reads included. */
  readonly maxNodes: number;
  readonly maxDepth: number;
  readonly maxComprehensionDepth: number;
  /** Units of work of one evaluation: a value read costs 1, a string additionally an eighth of its length. */
  readonly maxCost: number;
  /** Compiled expressions kept for reuse. */
  readonly cacheSize: number;
}

const DEFAULT_LIMITS: ExpressionLimits = {
  maxSourceBytes: 4096,
  maxNodes: 2000,
  maxDepth: 64,
  maxComprehensionDepth: 2,
  maxCost: 1_000_000,
  cacheSize: 1000,
};

const utf8 = new TextEncoder();

export function createExpressionCompiler(limits: Partial<ExpressionLimits> = {}): ExpressionCompiler {
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  const machine = createMachine(bounds);
  const cache = new Map<string, Expression>();

  return {
    compile(source) {
      const known = cache.get(source);
      if (known !== undefined) return known;
      const expression = compileSource(source, machine, bounds);
      const oldest = cache.keys().next();
      if (cache.size >= bounds.cacheSize && !oldest.done) cache.delete(oldest.value);
      cache.set(source, expression);
      return expression;
    },
  };
}

interface Machine {
  readonly environment: Environment;
  /** Runs with a fresh budget; evaluation is synchronous, so one meter serves all. */
  run(evaluate: (sizes: Sizes, meter: Meter) => unknown): unknown;
}

function compileSource(source: string, machine: Machine, limits: ExpressionLimits): Expression {
  if (source.length > limits.maxSourceBytes || utf8.encode(source).length > limits.maxSourceBytes) {
    throw new ExpressionError(`The expression is longer than ${limits.maxSourceBytes} bytes; split it up.`);
  }
  const { rewritten, reads, positionOf } = analyseExpression(parse(source, machine), {
    source,
    roots: EXPRESSION_ROOTS,
    maxComprehensionDepth: limits.maxComprehensionDepth,
  });
  const program = machine.environment.parse(rewritten);
  const checked = program.check();
  if (!checked.valid) throw refusal(source, checked.error, positionOf);

  return (scope) => {
    try {
      return fromCel(machine.run((sizes, meter) => program(projectScope(scope, reads, sizes, meter))));
    } catch (error) {
      throw failure(source, error);
    }
  };
}

function parse(source: string, machine: Machine): ASTNode {
  try {
    return machine.environment.parse(source).ast;
  } catch (error) {
    throw refusal(source, error, (offset) => offset);
  }
}

function createMachine(limits: ExpressionLimits): Machine {
  let remaining = 0;
  let sizes: Sizes = new WeakMap();
  const meter: Meter = {
    charge(units) {
      remaining -= units;
      if (remaining < 0) {
        throw new ExpressionError(
          'it reads more data than one evaluation may; look at less, or do it in a node',
        );
      }
    },
  };
  const environment = createEnvironment(limits, (value) => meter.charge(sizeOf(value, sizes)));
  return {
    environment,
    run(evaluate) {
      remaining = limits.maxCost;
      sizes = new WeakMap();
      return evaluate(sizes, meter);
    },
  };
}

function createEnvironment(limits: ExpressionLimits, charge: (value: unknown) => void): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: limits.maxNodes, maxDepth: limits.maxDepth },
  });
  for (const root of EXPRESSION_ROOTS) environment.registerVariable(root, 'dyn');
  registerMixedArithmetic(environment);
  registerLinearMatches(environment);
  environment.registerFunction('__read(ast): dyn', (macro: { args: [ASTNode] }) =>
    readMacro(macro.args[0], charge),
  );
  return environment;
}

interface Checker {
  check(node: ASTNode, context: unknown): unknown;
}

interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
}

/** Evaluates its argument and charges for the size of the value. */
function readMacro(node: ASTNode, charge: (value: unknown) => void): object {
  return {
    typeCheck: (checker: Checker, _macro: unknown, context: unknown) => checker.check(node, context),
    evaluate: (evaluator: Evaluator, _macro: unknown, context: unknown) => {
      const value = evaluator.run(node, context);
      charge(value);
      return value;
    },
  };
}

/** An integral JSON number may meet a fractional one anywhere, so ints and doubles calculate with each other. */
function registerMixedArithmetic(environment: Environment): void {
  const operations: Record<string, (left: number, right: number) => number> = {
    '+': (left, right) => left + right,
    '-': (left, right) => left - right,
    '*': (left, right) => left * right,
    '/': (left, right) => left / right,
  };
  for (const [sign, calculate] of Object.entries(operations)) {
    const handler = (left: number | bigint, right: number | bigint): number =>
      calculate(Number(left), Number(right));
    environment.registerOperator(`int ${sign} double`, handler);
    environment.registerOperator(`double ${sign} int`, handler);
  }
}

function registerLinearMatches(environment: Environment): void {
  const patterns = new Map<string, LinearRegex>();
  environment.registerFunction('string.__matches(string): bool', (text: string, pattern: string) => {
    let regex = patterns.get(pattern);
    if (regex === undefined) {
      regex = compileLinearRegex(pattern);
      if (patterns.size >= 100) patterns.clear();
      patterns.set(pattern, regex);
    }
    return regex.test(text);
  });
}

function isCelError(error: unknown): error is ParseError | EvaluationError | CelTypeError {
  return error instanceof ParseError || error instanceof EvaluationError || error instanceof CelTypeError;
}

function refusal(source: string, error: unknown, positionOf: (offset: number) => number): Error {
  if (error instanceof RangeError)
    return new ExpressionError('The expression is nested too deeply; split it up.');
  if (!isCelError(error)) return error instanceof Error ? error : new Error(String(error));
  const offset = error.range === undefined ? 0 : positionOf(error.range.start);
  let reason = visible(error.summary);
  if (error.code === 'unknown_variable') reason += ` (an expression sees ${EXPRESSION_ROOTS.join(', ')})`;
  return new ExpressionError(`${reason}, at ${describePosition(source, offset)}.`, { cause: error });
}

function failure(source: string, error: unknown): ExpressionError {
  const shown = source.length > 200 ? `${source.slice(0, 200)}…` : source;
  const reason = isCelError(error)
    ? visible(error.summary)
    : error instanceof Error
      ? error.message
      : String(error);
  return new ExpressionError(`Cannot evaluate "${shown}": ${reason.replace(/\.$/, '')}.`, { cause: error });
}

/** Our own helper names never reach the reader. */
function visible(text: string): string {
  return text.replaceAll('__matches', 'matches').replaceAll('__read', 'read');
}

export function evaluateToBoolean(expression: Expression, scope: JsonObject, source: string): boolean {
  const value: Json = expression(scope);
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(
    `"${source}" must give true or false, but gave ${value === null ? 'null' : typeof value}.`,
  );
}
