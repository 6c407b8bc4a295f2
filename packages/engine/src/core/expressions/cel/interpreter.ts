import type { ASTNode } from '@marcbachmann/cel-js';
import { MACROS, makeComprehension } from './comprehensions.ts';
import { TYPE_VALUES } from './conversions.ts';
import { EvaluationFailure } from './failure.ts';
import { attempt, type Evaluate } from './frame.ts';
import { type Overload, overloadsOf } from './functions.ts';
import { BINARY, type BinarySign, LIST_ITEM_BYTES, UNARY } from './operators.ts';
import {
  clip,
  itemAt,
  kindOf,
  keyText,
  LazyMap,
  lengthOf,
  ListValue,
  MapValue,
  memberOf,
  UnsignedValue,
  type Value,
} from './values.ts';

/**
 * Evaluates a parsed and checked expression. The library that parses and checks would evaluate it too, but counts nothing:
 * one call of `join` may fill the heap. Here every part is a closure that charges its visit, every function has a cost in the
 * table of functions, and nothing inside an expression can catch that the budget is exceeded.
 */

/** Names that a comprehension around has given, and how deep it is. */
interface Surroundings {
  readonly names: ReadonlyMap<string, number>;
  readonly depth: number;
}

export function makeEvaluate(ast: ASTNode): Evaluate {
  return make(ast, { names: new Map(), depth: 0 });
}

function make(node: ASTNode, around: Surroundings): Evaluate {
  switch (node.op) {
    case 'value':
      return makeLiteral(node.args);
    case 'id':
      return makeName(node.args, around);
    case '.':
      return makeSelection(make(node.args[0], around), node.args[1]);
    case '[]':
      return makeIndex(make(node.args[0], around), make(node.args[1], around));
    case 'call':
      return makeCall(node, around);
    case 'rcall':
      return makeMethod(node, around);
    case 'list':
      return makeList(node.args.map((item) => make(item, around)));
    case 'map':
      return makeMap(node.args.map(([key, value]) => [make(key, around), make(value, around)]));
    case '?:':
      return makeTernary(node.args.map((part) => make(part, around)));
    case '||':
      return makeLogical(make(node.args[0], around), make(node.args[1], around), true);
    case '&&':
      return makeLogical(make(node.args[0], around), make(node.args[1], around), false);
    case '!_':
    case '-_':
      return makeUnary(node.op, make(node.args, around));
    case '.?':
    case '[?]':
      throw new UnknownFunction(node, 'Optional access is not available here');
    default:
      return makeBinary(node.op, make(node.args[0], around), make(node.args[1], around));
  }
}

/** The checker knows a function that has no row here. */
export class UnknownFunction extends Error {
  readonly node: ASTNode;

  constructor(node: ASTNode, message: string) {
    super(message);
    this.node = node;
  }
}

function makeLiteral(literal: (ASTNode & { op: 'value' })['args']): Evaluate {
  // The parser's own unsigned integers wrap a bigint.
  const value: Value =
    typeof literal === 'object' && literal !== null && !(literal instanceof Uint8Array)
      ? new UnsignedValue(BigInt(String(literal)))
      : literal;
  return ({ budget }) => {
    budget.spend(1);
    return value;
  };
}

/** `google.protobuf.Timestamp` is three names with dots between them. */
const GOOGLE = new MapValue(
  new Map([
    [
      'protobuf',
      new MapValue(
        new Map([
          ['Timestamp', TYPE_VALUES.get('google.protobuf.Timestamp') ?? null],
          ['Duration', TYPE_VALUES.get('google.protobuf.Duration') ?? null],
        ]),
      ),
    ],
  ]),
);

function constantNamed(name: string): Value | undefined {
  if (name === 'google') return GOOGLE;
  return TYPE_VALUES.get(name === 'null_type' ? 'null' : name);
}

function makeName(name: string, { names }: Surroundings): Evaluate {
  const depth = names.get(name);
  if (depth !== undefined) {
    return ({ budget, locals }) => {
      budget.spend(1);
      return locals[depth] ?? null;
    };
  }
  const constant = constantNamed(name);
  return ({ budget, root }) => {
    budget.spend(1);
    const value = constant ?? root(name);
    if (value === undefined) throw new EvaluationFailure(`Unknown variable: ${name}`);
    return value;
  };
}

function makeSelection(of: Evaluate, name: string): Evaluate {
  return (frame) => {
    const value = of(frame);
    frame.budget.spend(lookUpSteps(value));
    const member = kindOf(value) === 'map' ? memberOf(value, name) : undefined;
    if (member === undefined) throw new EvaluationFailure(`No such key: ${name}`);
    return member;
  };
}

/** A member that is not in one object has to be found first. */
function lookUpSteps(value: Value): number {
  return value instanceof LazyMap ? 10 : 1;
}

function makeIndex(of: Evaluate, at: Evaluate): Evaluate {
  return (frame) => {
    const { budget } = frame;
    const value = of(frame);
    const index = at(frame);
    budget.spend(lookUpSteps(value) + (typeof index === 'string' ? index.length / 16 : 0));
    const kind = kindOf(value);
    const found =
      kind === 'map' ? memberOf(value, index) : kind === 'list' ? indexed(value, index) : undefined;
    if (found === undefined) throw new EvaluationFailure(`No such key: ${shownKey(index)}`);
    return found;
  };
}

function indexed(list: Value, index: Value): Value | undefined {
  if (typeof index !== 'bigint' && typeof index !== 'number') return undefined;
  const item = itemAt(list, Number(index));
  if (item !== undefined) return item;
  const bound = index < 0 ? '< 0' : `>= size ${lengthOf(list)}`;
  throw new EvaluationFailure(`No such key: index out of bounds, index ${shownKey(index)} ${bound}`);
}

function shownKey(key: Value): string {
  return typeof key === 'object' ? kindOf(key) : clip(String(key));
}

function makeUnary(sign: '!_' | '-_', of: Evaluate): Evaluate {
  const apply = UNARY[sign];
  return (frame) => {
    const operand = of(frame);
    frame.budget.spend(1);
    return apply(operand);
  };
}

function makeBinary(sign: BinarySign, left: Evaluate, right: Evaluate): Evaluate {
  const apply = BINARY[sign];
  return (frame) => apply(left(frame), right(frame), frame.budget);
}

function makeList(items: readonly Evaluate[]): Evaluate {
  return (frame) => {
    frame.budget.spend(1);
    frame.budget.allocate(32 + LIST_ITEM_BYTES * items.length);
    return new ListValue(items.map((item) => item(frame)));
  };
}

const MAP_ENTRY_BYTES = 64;

function makeMap(entries: readonly (readonly [key: Evaluate, value: Evaluate])[]): Evaluate {
  return (frame) => {
    frame.budget.spend(1);
    frame.budget.allocate(200 + MAP_ENTRY_BYTES * entries.length);
    const members = new Map<string, Value>();
    for (const [key, value] of entries) {
      const name = keyText(key(frame));
      frame.budget.spend(1 + name.length / 16);
      members.set(name, value(frame));
    }
    return new MapValue(members);
  };
}

function makeTernary([condition, then, otherwise]: readonly Evaluate[]): Evaluate {
  return (frame) => {
    frame.budget.spend(1);
    const holds = condition?.(frame);
    if (typeof holds !== 'boolean')
      throw new EvaluationFailure(`Ternary condition must be bool, got '${kindOf(holds ?? null)}'`);
    return (holds ? then : otherwise)?.(frame) ?? null;
  };
}

/** `||` and `&&`: where one side decides, the other may fail. `decisive` is the value that decides. */
function makeLogical(left: Evaluate, right: Evaluate, decisive: boolean): Evaluate {
  return (frame) => {
    frame.budget.spend(1);
    const first = attempt(left, frame);
    if (first === decisive) return decisive;
    const second = right(frame);
    if (second === decisive) return decisive;
    if (typeof second !== 'boolean') throw operandFailure(second);
    if (first instanceof EvaluationFailure) throw first;
    if (typeof first !== 'boolean') throw operandFailure(first);
    return second;
  };
}

function operandFailure(operand: Value): EvaluationFailure {
  return new EvaluationFailure(`Logical operator requires bool operands, got '${kindOf(operand)}'`);
}

function makeCall(node: ASTNode & { op: 'call' }, around: Surroundings): Evaluate {
  const [name, args] = node.args;
  const [argument] = args;
  if (name === 'has' && argument !== undefined) return makeHas(argument, around);
  return makeFunction(node, name, false, args, around);
}

function makeMethod(node: ASTNode & { op: 'rcall' }, around: Surroundings): Evaluate {
  const [name, receiver, args] = node.args;
  if (MACROS.get(name)?.includes(args.length) === true) return makeComprehensionOf(node, around);
  return makeFunction(node, name, true, [receiver, ...args], around);
}

function makeFunction(
  node: ASTNode,
  name: string,
  hasReceiver: boolean,
  args: readonly ASTNode[],
  around: Surroundings,
): Evaluate {
  const overloads = overloadsOf(hasReceiver, name, hasReceiver ? args.length - 1 : args.length);
  if (overloads === undefined) throw new UnknownFunction(node, `${name} is not available here`);
  const operands = args.map((arg) => make(arg, around));
  return (frame) => {
    const { budget } = frame;
    budget.spend(2);
    const values = operands.map((operand) => operand(frame));
    const overload = choose(overloads, values);
    if (overload === undefined) throw new EvaluationFailure(noMatch(name, hasReceiver, values));
    budget.spend(overload.steps(values));
    if (overload.bytes !== undefined) budget.allocate(overload.bytes(values));
    return overload.call(values, budget);
  };
}

function choose(overloads: readonly Overload[], values: readonly Value[]): Overload | undefined {
  for (const overload of overloads) {
    if (overload.kinds.every((kind, index) => kind === 'dyn' || kind === kindOf(values[index] ?? null)))
      return overload;
  }
  return undefined;
}

function noMatch(name: string, hasReceiver: boolean, values: readonly Value[]): string {
  const kinds = values.map(kindOf);
  const receiver = hasReceiver ? `${kinds.shift() ?? ''}.` : '';
  return `found no matching overload for '${receiver}${name}(${kinds.join(', ')})'`;
}

/** Whether a selection leads somewhere; all but its last name must. */
function makeHas(selection: ASTNode, around: Surroundings): Evaluate {
  const names: string[] = [];
  let head = selection;
  while (head.op === '.') {
    names.unshift(head.args[1]);
    head = head.args[0];
  }
  const start = make(head, around);
  return (frame) => {
    let value: Value | undefined = start(frame);
    for (const [index, name] of names.entries()) {
      frame.budget.spend(lookUpSteps(value));
      value = kindOf(value) === 'map' ? memberOf(value, name) : undefined;
      if (value !== undefined) continue;
      if (index === names.length - 1) return false;
      throw new EvaluationFailure(`No such key: ${name}`);
    }
    return true;
  };
}

function makeComprehensionOf(node: ASTNode & { op: 'rcall' }, { names, depth }: Surroundings): Evaluate {
  const [name, receiver, [variable, ...bodies]] = node.args;
  const inside = new Map(names);
  if (variable?.op === 'id') inside.set(variable.args, depth);
  const [first, second] = bodies.map((body) => make(body, { names: inside, depth: depth + 1 }));
  if (first === undefined) throw new UnknownFunction(node, `${name} needs something to evaluate`);
  return makeComprehension({ name, range: make(receiver, { names, depth }), first, second, depth });
}
