import {
  BudgetExceeded,
  type EdgeCondition,
  indexOf,
  isJsonObject,
  type Json,
  type JsonObject,
  PatternError,
  searchSteps,
  type WorkBudget,
} from '@weft/protocol';
import { evaluateToBoolean } from '../expressions/expressions.ts';
import { type Condition, type CostCode, ExpressionError, type ExpressionCompiler } from '../compile/plan.ts';

/**
 * Conditions of edges in their wire forms. `left` is a dotted path into the source node's outputs; what is not there is
 * undefined, which equals nothing, contains nothing and matches nothing.
 */

/** A condition that cannot be compiled; `path` is a JSON Pointer inside the condition. */
export class ConditionError extends ExpressionError {
  readonly path: string;

  constructor(path: string, message: string, options?: ConstructorParameters<typeof ExpressionError>[1]) {
    super(message, options);
    this.name = 'ConditionError';
    this.path = path;
  }
}

type Form = NonNullable<EdgeCondition['type']>;

/** Which members each form needs; any other is refused, because it would have no effect. */
const MEMBERS: Record<Form, readonly ('left' | 'right' | 'expression')[]> = {
  expression: ['expression'],
  equals: ['left', 'right'],
  notEquals: ['left', 'right'],
  contains: ['left', 'right'],
  regex: ['left', 'right'],
  truthy: ['left'],
  falsy: ['left'],
};

/** Throws ConditionError, which is an ExpressionError, when a member is missing, needless or does not compile. */
export function compileCondition(condition: EdgeCondition, compiler: ExpressionCompiler): Condition {
  const form = formOf(condition);
  checkMembers(form, condition);
  if (form === 'expression') return compileExpression(condition.expression ?? '', compiler);
  const read = pathReader(condition.left ?? '');
  const test = compileTest(form, condition.right, compiler);
  return (outputs, _scope, budget) => {
    try {
      budget.spend(CONDITION_STEPS);
      return test(read(outputs), budget);
    } catch (error) {
      throw tooCostly(error);
    }
  };
}

/** Finding the value that is tested. */
const CONDITION_STEPS = 10;

function tooCostly(error: unknown): unknown {
  if (error instanceof BudgetExceeded)
    return costError(
      'expression_budget_exceeded',
      `The condition cannot be tested: ${error.message}; compare smaller values.`,
      error,
    );
  if (error instanceof PatternError && error.limit !== undefined)
    return costError('pattern_too_costly', error.message, error);
  return error;
}

function costError(
  code: CostCode,
  message: string,
  { limit = 0, observed = 0 }: { readonly limit: number | undefined; readonly observed: number | undefined },
): ExpressionError {
  return new ExpressionError(message, { code, details: { limit, observed } });
}

function formOf(condition: EdgeCondition): Form {
  if (condition.type !== undefined) return condition.type;
  if (condition.expression !== undefined) return 'expression';
  throw new ConditionError(
    '/type',
    `The condition has no "type"; use one of ${Object.keys(MEMBERS).join(', ')}.`,
  );
}

function checkMembers(form: Form, condition: EdgeCondition): void {
  const needed = MEMBERS[form];
  for (const member of ['left', 'right', 'expression'] as const) {
    const isPresent = condition[member] !== undefined;
    if (isPresent && !needed.includes(member)) {
      throw new ConditionError(
        `/${member}`,
        `A condition of type "${form}" does not look at "${member}"; remove it.`,
      );
    }
    if (!isPresent && needed.includes(member)) {
      throw new ConditionError(`/${member}`, `A condition of type "${form}" needs "${member}".`);
    }
  }
  if (condition.left === '')
    throw new ConditionError('/left', 'Name the output to look at, such as "output.approved".');
}

function compileExpression(source: string, compiler: ExpressionCompiler): Condition {
  const expression = at('/expression', () => compiler.compile(source));
  return (_outputs, scope, budget) => evaluateToBoolean(expression, scope, source, budget);
}

function compileTest(
  form: Exclude<Form, 'expression'>,
  right: Json | undefined,
  compiler: ExpressionCompiler,
): (left: Json | undefined, budget: WorkBudget) => boolean {
  switch (form) {
    case 'equals':
      return (left, budget) => left !== undefined && right !== undefined && deepEqual(left, right, budget);
    case 'notEquals':
      return (left, budget) => left === undefined || right === undefined || !deepEqual(left, right, budget);
    case 'contains':
      return (left, budget) => right !== undefined && contains(left, right, budget);
    case 'regex': {
      if (typeof right !== 'string') throw new ConditionError('/right', 'Write the pattern as a string.');
      const pattern = at('/right', () => compiler.pattern(right));
      return (left, budget) => typeof left === 'string' && pattern.test(left, budget);
    }
    case 'truthy':
      return (left) => Boolean(left);
    case 'falsy':
      return (left) => !left;
  }
}

function at<Value>(path: string, compile: () => Value): Value {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { code, details } = error;
    throw new ConditionError(path, error.message, { cause: error, code, details });
  }
}

/**
 * The first name is an output port. Where there is no such port, the path is looked up inside port `output`; and a path that
 * begins with `output` though there is no such port means the outputs themselves, as the default port of an edge does.
 */
function pathReader(left: string): (outputs: JsonObject) => Json | undefined {
  const path = left.split('.');
  const [port = ''] = path;
  return (outputs) => {
    if (Object.hasOwn(outputs, port)) return walk(outputs, path);
    const output = Object.hasOwn(outputs, 'output') ? outputs['output'] : undefined;
    if (output !== undefined) return walk(output, path);
    return port === 'output' ? walk(outputs, path.slice(1)) : undefined;
  };
}

function walk(from: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = from;
  for (const name of path) {
    if (Array.isArray(value)) value = /^\d+$/.test(name) ? value[Number(name)] : undefined;
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

function contains(left: Json | undefined, right: Json, budget: WorkBudget): boolean {
  if (typeof left !== 'string')
    return Array.isArray(left) && left.some((item) => deepEqual(item, right, budget));
  if (typeof right !== 'string') return false;
  budget.spend(searchSteps(left, right));
  return indexOf(left, right) !== -1;
}

/** Equality of JSON values; the order of members does not matter. Charged part by part, where someone counts. */
export function deepEqual(left: Json, right: Json, budget?: WorkBudget): boolean {
  budget?.spend(typeof left === 'string' ? 1 + left.length / 16 : 1);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => deepEqual(item, right[index] ?? null, budget))
    );
  }
  if (Array.isArray(right)) return false;
  const names = Object.keys(left);
  budget?.spend(2 * names.length);
  return (
    names.length === Object.keys(right).length &&
    names.every(
      (name) => Object.hasOwn(right, name) && deepEqual(left[name] ?? null, right[name] ?? null, budget),
    )
  );
}
