import type { ASTNode } from '@marcbachmann/cel-js';
import { MACROS } from './cel/comprehensions.ts';
import { partsOf } from './expression-parts.ts';
import { ExpressionError } from '../compile/plan.ts';

/** Looks at a parsed expression before it is accepted, and refuses what is not part of the language here. */

export interface AnalysisOptions {
  readonly source: string;
  readonly maxComprehensionDepth: number;
  /** Nesting depth of the syntax tree, hence the stack that a walk over it needs. */
  readonly maxLevels: number;
}

/** Keys that other implementations of CEL drop from a map without a word. */
const LOST_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** A part, how many levels are above it, and how many comprehensions are around it. */
type Open = readonly [node: ASTNode, level: number, comprehensions: number];

/** Returns the number of its syntax nodes. Throws ExpressionError with the position of what is refused. */
export function analyseExpression(ast: ASTNode, options: AnalysisOptions): number {
  const open: Open[] = [[ast, 1, 0]];
  let count = 0;
  // Not by recursion: how deep it is has still to be found out.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, level, comprehensions] = next;
    count += 1;
    if (level > options.maxLevels) throw tooDeep(options.maxLevels);
    refuseForeign(node, options.source);
    const inside = comprehensions + Number(isComprehension(node));
    if (inside > options.maxComprehensionDepth) {
      const reason = `all, exists, map and filter may be nested ${options.maxComprehensionDepth} deep`;
      refuse(node, reason, options.source);
    }
    for (const [index, part] of partsOf(node).entries()) {
      // The list that is gone through stands outside.
      open.push([part, level + 1, index === 0 ? comprehensions : inside]);
    }
  }
  return count;
}

function tooDeep(limit: number): ExpressionError {
  return new ExpressionError(`The expression is nested more than ${limit} deep; split it up.`, {
    code: 'expression_budget_exceeded',
    details: { limit, observed: limit + 1 },
  });
}

function isComprehension(node: ASTNode): boolean {
  return node.op === 'rcall' && MACROS.has(node.args[0]);
}

function refuseForeign(node: ASTNode, source: string): void {
  if (node.op === 'rcall') {
    const [, receiver] = node.args;
    if (receiver.op === 'id' && receiver.args === 'cel')
      refuse(node, 'cel.bind is not available here', source);
  }
  if (node.op !== 'map') return;
  for (const [key] of node.args) {
    if (key.op === 'value' && LOST_KEYS.has(String(key.args)))
      refuse(key, `the key ${String(key.args)} cannot be written in a map`, source);
  }
}

function refuse(node: ASTNode, reason: string, source: string): never {
  throw new ExpressionError(`${reason}, at ${describePosition(source, node.start)}.`);
}

export function describePosition(source: string, offset: number): string {
  const before = source.slice(0, offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return before.length === 1 ? `column ${column}` : `line ${before.length}, column ${column}`;
}
