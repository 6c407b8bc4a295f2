import type { ASTNode } from '@marcbachmann/cel-js';
import { MACROS } from './cel/comprehensions.ts';
import { partsOf } from './expression-parts.ts';

/** Which parts of the scope an expression may read: all of it (true), or these members. */
export type Reads = true | ReadonlyMap<string, Reads>;

type OpenReads = Map<string, true | OpenReads>;

/** Found in the text alone: what is read only on one side of a condition is among it. */
export function readsOf(ast: ASTNode): Reads {
  const reads: OpenReads = new Map();
  visit(ast, new Set(), reads);
  return reads;
}

/** What the expression looks for without needing it: `has(variables.x)`. */
export function testedIn(ast: ASTNode): Reads {
  const reads: OpenReads = new Map();
  const open: ASTNode[] = [ast];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.op === 'call' && node.args[0] === 'has') visit(node, new Set(), reads);
    open.push(...partsOf(node));
  }
  return reads;
}

/** `bound`: variables of the comprehensions around the part. */
function visit(node: ASTNode, bound: ReadonlySet<string>, reads: OpenReads): void {
  if (isSelection(node) || node.op === 'id') return visitSelection(node, bound, reads);
  const [first, ...rest] = partsOf(node);
  if (first === undefined) return;
  visit(first, bound, reads);
  if (node.op !== 'rcall' || !MACROS.has(node.args[0])) {
    for (const part of rest) visit(part, bound, reads);
    return;
  }
  const [variable, ...bodies] = rest;
  const inside = variable?.op === 'id' ? new Set(bound).add(variable.args) : bound;
  for (const body of bodies) visit(body, inside, reads);
}

type Selection = ASTNode & { readonly op: '.' | '.?' | '[]' | '[?]' };

function isSelection(node: ASTNode): node is Selection {
  return node.op === '.' || node.op === '.?' || node.op === '[]' || node.op === '[?]';
}

/** As `nodes["a"].output.items[index]`: one read as far as the names are constant, and those inside its indexes. */
function visitSelection(node: ASTNode, bound: ReadonlySet<string>, reads: OpenReads): void {
  const names: (string | undefined)[] = [];
  let head = node;
  while (isSelection(head)) {
    const [base, member]: readonly [ASTNode, string | ASTNode] = head.args;
    const name = typeof member === 'string' ? member : constantName(member);
    if (name === undefined && typeof member !== 'string') visit(member, bound, reads);
    names.unshift(name);
    head = base;
  }
  if (head.op !== 'id') return visit(head, bound, reads);
  if (bound.has(head.args)) return;
  const open = names.indexOf(undefined);
  note([head.args, ...(open === -1 ? names : names.slice(0, open))] as string[], reads);
}

function constantName(member: ASTNode): string | undefined {
  return member.op === 'value' && typeof member.args === 'string' ? member.args : undefined;
}

function note(path: readonly string[], reads: OpenReads): void {
  let members = reads;
  for (const name of path.slice(0, -1)) {
    const present = members.get(name);
    if (present === true) return;
    const next: OpenReads = present ?? new Map();
    members.set(name, next);
    members = next;
  }
  members.set(path.at(-1) as string, true);
}
