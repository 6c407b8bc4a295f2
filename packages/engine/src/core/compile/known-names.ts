import type { WorkflowDefinition } from '@weft/protocol';
import type { NodeType } from '../../model/node-type.ts';
import type { Reads } from '../expressions/expression-reads.ts';
import { nearestName } from './problems.ts';
import { type ExpressionCompiler, ExpressionError } from './plan.ts';

/** Names that an expression may use, by what they are members of. */
export interface KnownNames {
  readonly variables: ReadonlySet<string>;
  readonly nodes: ReadonlySet<string>;
}

/** Variables that are declared or that a node sets, and the ids of all nodes. */
export function knownNames(
  definition: WorkflowDefinition,
  nodeTypes: ReadonlyMap<string, NodeType>,
): KnownNames {
  const variables = new Set(definition.variables.map(({ name }) => name));
  for (const { typeId, config } of definition.nodes) {
    for (const name of nodeTypes.get(typeId)?.setsVariables?.(config) ?? []) variables.add(name);
  }
  return { variables, nodes: new Set(definition.nodes.map(({ id }) => id)) };
}

interface Roots {
  readonly known: KnownNames;
  /** What `inputs` holds where the expression stands. */
  readonly inputs: ReadonlySet<string>;
}

/**
 * Compiles what uses known names alone: a misspelt variable would fail the run only when it gets there. A name that the expression
 * itself looks for with `has()` may be missing.
 */
export function withKnownNames(
  expressions: ExpressionCompiler,
  { known, inputs }: Roots,
): ExpressionCompiler {
  const members: readonly (readonly [root: string, names: ReadonlySet<string>, remedy: string])[] = [
    ['variables', known.variables, 'declare it under "variables"'],
    ['vars', known.variables, 'declare it under "variables"'],
    ['nodes', known.nodes, 'no node has this id'],
    ['inputs', inputs, inputs.size === 0 ? 'there are no inputs here' : `there are ${listed(inputs)}`],
  ];
  return {
    pattern: (source) => expressions.pattern(source),
    compile(source) {
      const expression = expressions.compile(source);
      const { reads, tested } = expression;
      for (const [root, names, remedy] of members) {
        const unknown = namesUnder(reads, root).find(
          (name) => !names.has(name) && !isRead(tested, root, name),
        );
        if (unknown === undefined) continue;
        const meant = nearestName(unknown, names);
        const hint = meant === undefined ? remedy : `did you mean ${root}.${meant}?`;
        throw new ExpressionError(`There is no ${root}.${unknown}: ${hint}${hint.endsWith('?') ? '' : '.'}`);
      }
      return expression;
    },
  };
}

const SHOWN = 10;

function listed(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, SHOWN).join(', ');
  return names.size > SHOWN ? `${shown} …` : shown;
}

function namesUnder(reads: Reads | undefined, root: string): readonly string[] {
  const members = reads === undefined || reads === true ? undefined : reads.get(root);
  return members === undefined || members === true ? [] : [...members.keys()];
}

function isRead(reads: Reads | undefined, root: string, name: string): boolean {
  return namesUnder(reads, root).includes(name);
}
