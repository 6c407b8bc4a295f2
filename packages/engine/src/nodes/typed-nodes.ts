import { renderType } from '@weft/protocol';
import type { NodeType } from '../model/node-type.ts';
import { NODE_DOCS } from './node-docs.ts';

/**
 * The host's node types as TypeScript types, for those who write workflows in it: the text of packages/sdk/src/workflows/builtin-types.ts.
 * A test keeps it in step.
 */
export function renderTypedNodes(unsorted: readonly NodeType[]): string {
  const types = unsorted.toSorted((a, b) => (a.typeId < b.typeId ? -1 : 1));
  return [
    '// Generated from the node types of the engine; change those, then run `npm run docs`.\n',
    "import type { Json, JsonObject } from '@weft/protocol/plain';\n",
    '/** Types of the host: config, and what arrives and leaves at their ports. An index signature stands for ports of any name. */',
    'export interface BuiltinNodeTypes {',
    ...types.map(memberOf),
    '}\n',
    '/** Output ports that may be absent: an edge from one is taken only when it has a value. */',
    'export const BRANCHES: Readonly<Record<string, readonly string[]>> = {',
    ...types.flatMap(({ typeId, branches }) =>
      branches === undefined ? [] : [`  '${typeId}': [${branches.map(quoted).join(', ')}],`],
    ),
    '};\n',
  ].join('\n');
}

const NOTHING = 'Record<string, never>';

function memberOf({ typeId, summary, config }: NodeType): string {
  const { inputs = {}, outputs = {} } = NODE_DOCS[typeId] ?? {};
  return [
    `  /** ${summary} */`,
    `  '${typeId}': {`,
    `    config: ${configType(config)};`,
    `    inputs: ${portsType(inputs, '?')};`,
    `    outputs: ${portsType(outputs, '')};`,
    '  };',
  ].join('\n');
}

function configType(config: NodeType['config']): string {
  const { properties = {} } = config as { readonly properties?: object };
  return Object.keys(properties).length === 0 ? NOTHING : renderType(config, '    ');
}

function portsType(ports: Readonly<Record<string, string>>, mark: '' | '?'): string {
  const names = Object.entries(ports);
  // Of an object nothing is known that could be read; a record of nothing refuses what is given.
  if (names.length === 0) return mark === '' ? 'object' : NOTHING;
  const members = names.map(([name, meaning]) =>
    name === '*'
      ? `      /** Any other: ${meaning} */\n      [port: string]: Json | undefined;`
      : `      /** ${meaning} */\n      ${/^\w+$/.test(name) ? name : quoted(name)}${mark}: Json;`,
  );
  return `{\n${members.join('\n')}\n    }`;
}

function quoted(text: string): string {
  return `'${text}'`;
}
