import type { ASTNode } from '@marcbachmann/cel-js';

/** The parts of a parsed expression, from left to right; of a method, what it is called on comes first. */
export function partsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case '!_':
    case '-_':
      return [node.args];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    default:
      return node.args;
  }
}
