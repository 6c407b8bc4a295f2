import type { ASTNode } from '@marcbachmann/cel-js';

/**
 * The type checker keeps every type it ever meets, for the life of the process: `[[{"a": [1]}]]` is four of them, and nesting can
 * be varied without end. So a literal list or map has a type of its elements only where those are scalars of one kind; all
 * others are of any type. What the checker then no longer sees, the evaluation does.
 */

/** What the checker works with; it does not say so in its declarations. */
interface Checker {
  check(node: ASTNode, context: unknown): Type;
  getType(name: string): Type;
}

interface Type {
  readonly kind: string;
  readonly name: string;
}

interface Checked {
  setMeta(key: 'check', value: (checker: Checker, node: ASTNode, context: unknown) => Type): unknown;
}

/** Replaces, in a parsed expression, how its literals are checked. */
export function boundLiteralTypes(node: ASTNode): void {
  switch (node.op) {
    case 'value':
    case 'id':
      return;
    case '.':
    case '.?':
      return boundLiteralTypes(node.args[0]);
    case '!_':
    case '-_':
      return boundLiteralTypes(node.args);
    case 'call':
      return node.args[1].forEach(boundLiteralTypes);
    case 'rcall':
      return [node.args[1], ...node.args[2]].forEach(boundLiteralTypes);
    case 'list':
      setCheck(node, checkList);
      return node.args.forEach(boundLiteralTypes);
    case 'map':
      setCheck(node, checkMap);
      return node.args.flat().forEach(boundLiteralTypes);
    default:
      return node.args.forEach(boundLiteralTypes);
  }
}

function setCheck(node: ASTNode, check: (checker: Checker, node: ASTNode, context: unknown) => Type): void {
  (node as unknown as Checked).setMeta('check', check);
}

function checkList(checker: Checker, node: ASTNode, context: unknown): Type {
  return checker.getType(`list<${elementType(node.op === 'list' ? node.args : [], checker, context)}>`);
}

function checkMap(checker: Checker, node: ASTNode, context: unknown): Type {
  const entries = node.op === 'map' ? node.args : [];
  const key = elementType(
    entries.map(([name]) => name),
    checker,
    context,
  );
  const value = elementType(
    entries.map(([, member]) => member),
    checker,
    context,
  );
  return checker.getType(`map<${key}, ${value}>`);
}

/** Every element is checked, also when what they have in common is known to be nothing. */
function elementType(nodes: readonly ASTNode[], checker: Checker, context: unknown): string {
  const types = nodes.map((node) => checker.check(node, context));
  const [first] = types;
  const isUniform = first?.kind === 'primitive' && types.every((type) => type === first);
  return isUniform ? first.name : 'dyn';
}
