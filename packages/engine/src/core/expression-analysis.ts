import type { ASTNode } from '@marcbachmann/cel-js';
import type { Reads } from './expression-values.ts';
import { ExpressionError } from './plan.ts';

/**
 * Looks at a parsed expression before it is accepted: refuses what the run-time bounds do not cover, finds out which parts
 * of the scope are read, and rewrites the source so that each read is charged and `matches` is the linear one.
 */

export interface Analysis {
  readonly rewritten: string;
  readonly reads: Reads;
  /** Offset in the original source of an offset in the rewritten one. */
  positionOf(offset: number): number;
}

interface AnalysisOptions {
  readonly source: string;
  readonly roots: readonly string[];
  readonly maxComprehensionDepth: number;
}

const COMPREHENSIONS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** The library drops these keys from map literals without a word. */
const LOST_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

interface Walk extends AnalysisOptions {
  readonly edits: Edit[];
  readonly reads: Map<string, Reads>;
}

/** What surrounds a node: names bound by comprehensions, and how many of those enclose it. */
interface Surroundings {
  readonly bound: ReadonlySet<string>;
  readonly depth: number;
}

export function analyseExpression(ast: ASTNode, options: AnalysisOptions): Analysis {
  const walk: Walk = { ...options, edits: [], reads: new Map() };
  visit(ast, { bound: new Set(), depth: 0 }, walk);
  const edits = walk.edits.sort((a, b) => a.at - b.at);
  return { rewritten: applyEdits(options.source, edits), reads: walk.reads, positionOf: positions(edits) };
}

function visit(node: ASTNode, around: Surroundings, walk: Walk): void {
  switch (node.op) {
    case 'value':
      return;
    case 'id':
    case '.':
    case '.?':
    case '[]':
    case '[?]':
      visitChain(node, around, walk);
      return;
    case 'call':
      visitCall(node, node.args[0], node.args[1], around, walk);
      return;
    case 'rcall':
      visitMethod(node, around, walk);
      return;
    case 'map':
      for (const [key, value] of node.args) {
        if (key.op === 'value' && LOST_KEYS.has(String(key.args)))
          refuse(key, `the key ${String(key.args)} cannot be written in a map`, walk);
        visit(key, around, walk);
        visit(value, around, walk);
      }
      return;
    case '!_':
    case '-_':
      visit(node.args, around, walk);
      return;
    default:
      for (const operand of node.args) visit(operand, around, walk);
  }
}

function visitCall(
  node: ASTNode,
  name: string,
  args: readonly ASTNode[],
  around: Surroundings,
  walk: Walk,
): void {
  if (name.startsWith('__')) refuse(node, `${name} is not a function`, walk);
  const [argument] = args;
  // has() accepts nothing but a plain selection, and reads no more than whether it is there.
  if (name === 'has' && argument?.op === '.') {
    recordRead(argument, around, walk);
    return;
  }
  for (const operand of args) visit(operand, around, walk);
}

function visitMethod(node: ASTNode & { op: 'rcall' }, around: Surroundings, walk: Walk): void {
  const [name, receiver, args] = node.args;
  if (name.startsWith('__')) refuse(node, `${name} is not a function`, walk);
  if (receiver.op === 'id' && receiver.args === 'cel') refuse(node, 'cel.bind is not available here', walk);
  if (COMPREHENSIONS.has(name)) {
    visitComprehension(node, receiver, args, around, walk);
    return;
  }
  if (name === 'matches') {
    const at = methodNameOffset(node, receiver, walk.source);
    walk.edits.push({ at, remove: name.length, insert: '__matches' });
  }
  visit(receiver, around, walk);
  for (const operand of args) visit(operand, around, walk);
}

function visitComprehension(
  node: ASTNode,
  receiver: ASTNode,
  args: readonly ASTNode[],
  around: Surroundings,
  walk: Walk,
): void {
  const depth = around.depth + 1;
  if (depth > walk.maxComprehensionDepth) {
    refuse(node, `all, exists, map and filter may be nested ${walk.maxComprehensionDepth} deep`, walk);
  }
  visit(receiver, around, walk);
  const [variable, ...bodies] = args;
  const bound = new Set(around.bound);
  if (variable?.op === 'id') bound.add(variable.args);
  for (const body of bodies) visit(body, { bound, depth }, walk);
}

/** A selection such as `nodes["a"].output.items[index]`: one read, plus the reads inside its indexes. */
function visitChain(node: ASTNode, around: Surroundings, walk: Walk): void {
  let head = node;
  while (head.op === '.' || head.op === '.?' || head.op === '[]' || head.op === '[?]') {
    if (head.op === '[]' || head.op === '[?]') visit(head.args[1], around, walk);
    head = head.args[0];
  }
  if (head.op !== 'id') {
    visit(head, around, walk);
    return;
  }
  if (!around.bound.has(head.args) && !walk.roots.includes(head.args)) return; // a type name, or unknown: the checker says
  recordRead(node, around, walk);
  walk.edits.push({ at: node.start, remove: 0, insert: '__read(' });
  walk.edits.push({ at: node.end, remove: 0, insert: ')' });
}

function recordRead(node: ASTNode, around: Surroundings, walk: Walk): void {
  const { path } = literalPath(node);
  const [root] = path;
  if (root === undefined || around.bound.has(root) || !walk.roots.includes(root)) return;
  let members = walk.reads;
  for (const name of path.slice(0, -1)) {
    const present = members.get(name);
    if (present === true) return;
    const next = present ?? new Map<string, Reads>();
    members.set(name, next);
    members = next;
  }
  members.set(path.at(-1) ?? root, true);
}

/** The names from the root up to the first index that is not a constant string. */
function literalPath(node: ASTNode): { path: string[]; open: boolean } {
  if (node.op === 'id') return { path: [node.args], open: false };
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]')
    return { path: [], open: true };
  const [base, member] = node.args;
  const { path, open } = literalPath(base);
  if (open) return { path, open };
  if (typeof member === 'string') return { path: [...path, member], open };
  if (member.op === 'value' && typeof member.args === 'string') return { path: [...path, member.args], open };
  return { path, open: true };
}

function methodNameOffset(node: ASTNode & { op: 'rcall' }, receiver: ASTNode, source: string): number {
  // Between the receiver and the name stand only closing brackets, blanks, comments and the dot.
  const between = source.slice(receiver.end, node.end);
  const match = /^(?:[\s)]|\/\/[^\n]*\n)*\.(?:\s|\/\/[^\n]*\n)*/.exec(between);
  return receiver.end + (match?.[0].length ?? 0);
}

function refuse(node: ASTNode, reason: string, walk: Walk): never {
  throw new ExpressionError(`${reason}, at ${describePosition(walk.source, node.start)}.`);
}

export function describePosition(source: string, offset: number): string {
  const before = source.slice(0, offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return before.length === 1 ? `column ${column}` : `line ${before.length}, column ${column}`;
}

function applyEdits(source: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  for (const edit of edits) {
    result += source.slice(from, edit.at) + edit.insert;
    from = edit.at + edit.remove;
  }
  return result + source.slice(from);
}

function positions(edits: readonly Edit[]): (offset: number) => number {
  return (offset) => {
    let shift = 0;
    for (const edit of edits) {
      if (edit.at + shift >= offset) break;
      shift += edit.insert.length - edit.remove;
    }
    return Math.max(0, offset - shift);
  };
}
