import type { WorkBudget } from '@weft/protocol';
import { EvaluationFailure } from './failure.ts';
import { attempt, type Evaluate, type Frame } from './frame.ts';
import { LIST_ITEM_BYTES } from './operators.ts';
import { itemAt, kindOf, lengthOf, ListValue, NAME_STEPS, namesOf, type Value } from './values.ts';

/** `all`, `exists`, `map` and `filter`: the only loops that CEL has. Every round is charged, and every item that is kept. */

/** How many operands each takes: the name of the variable, and what is evaluated with it. */
export const MACROS: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
]);

export interface Comprehension {
  readonly name: string;
  readonly range: Evaluate;
  readonly first: Evaluate;
  readonly second?: Evaluate | undefined;
  /** Where its variable stands among those of the comprehensions around it. */
  readonly depth: number;
}

/** Runs `body` once per element, with the variable set; stops when it returns true. */
type EachElement = (frame: Frame, body: () => boolean) => void;

export function makeComprehension({ name, range, first, second, depth }: Comprehension): Evaluate {
  const each: EachElement = (frame, body) => {
    const list = elementsOf(range(frame), frame.budget);
    const length = lengthOf(list);
    for (let index = 0; index < length; index++) {
      frame.budget.spend(1);
      frame.locals[depth] = itemAt(list, index) ?? null;
      if (body()) return;
    }
  };
  switch (name) {
    case 'all':
    case 'exists':
      return makeQuantifier(each, first, name);
    case 'exists_one':
      return makeExistsOne(each, first);
    case 'filter':
      return makeCollect(each, (frame) =>
        holds(first, frame, 'filter') ? (frame.locals[depth] ?? null) : undefined,
      );
    default:
      return second === undefined
        ? makeCollect(each, first)
        : makeCollect(each, (frame) => (holds(first, frame, 'map') ? second(frame) : undefined));
  }
}

/** Of a list its items, of a map its names. */
function elementsOf(collection: Value, budget: WorkBudget): Value {
  const kind = kindOf(collection);
  if (kind === 'list') return collection;
  if (kind !== 'map') {
    throw new EvaluationFailure(
      `Expression of type '${kind}' cannot be range of a comprehension (must be list, map, or dynamic).`,
    );
  }
  const names = namesOf(collection);
  budget.spend(NAME_STEPS * names.length);
  budget.allocate(LIST_ITEM_BYTES * names.length);
  return new ListValue(names);
}

function holds(predicate: Evaluate, frame: Frame, name: string): boolean {
  const value = predicate(frame);
  if (typeof value === 'boolean') return value;
  throw new EvaluationFailure(`${name}(var, predicate) predicate must return bool, got '${kindOf(value)}'`);
}

/** A failure counts only when no element decides. */
function makeQuantifier(each: EachElement, predicate: Evaluate, name: 'all' | 'exists'): Evaluate {
  const decisive = name === 'exists';
  return (frame) => {
    let failed: EvaluationFailure | undefined;
    let isDecided = false;
    const ask = (inner: Frame): boolean => holds(predicate, inner, name);
    each(frame, () => {
      const answer = attempt(ask, frame);
      if (answer instanceof EvaluationFailure) failed ??= answer;
      isDecided = answer === decisive;
      return isDecided;
    });
    if (isDecided) return decisive;
    if (failed !== undefined) throw failed;
    return !decisive;
  };
}

function makeExistsOne(each: EachElement, predicate: Evaluate): Evaluate {
  return (frame) => {
    let count = 0;
    each(frame, () => {
      if (holds(predicate, frame, 'exists_one')) count += 1;
      return false;
    });
    return count === 1;
  };
}

/** A list of what `pick` gives, without what it leaves out. */
function makeCollect(each: EachElement, pick: (frame: Frame) => Value | undefined): Evaluate {
  return (frame) => {
    const items: Value[] = [];
    each(frame, () => {
      const item = pick(frame);
      if (item === undefined) return false;
      frame.budget.allocate(LIST_ITEM_BYTES);
      items.push(item);
      return false;
    });
    return new ListValue(items);
  };
}
