import type { TSchema } from 'typebox';
import type { NodeType } from '../model/node-type.ts';

/** The reference page of the node types, from the types themselves. A test keeps docs/reference/nodes.md in step. */
export function renderNodeReference(unsorted: readonly NodeType[]): string {
  const types = unsorted.toSorted((a, b) => (a.typeId < b.typeId ? -1 : 1));
  const rows = types.map(
    (type) => `| [\`${type.typeId}\`](#${anchor(type.typeId)}) | ${type.kind} | ${type.summary} |`,
  );
  return [
    '# Node types',
    '',
    'Generated from the node types of the engine. `pure` nodes compute, `timer` nodes wait, `effect` nodes touch the world, `interrupt`',
    'nodes ask somebody, `loop` nodes repeat others. Config objects are closed: an unknown field refuses the definition.',
    '',
    '| type | kind | what it does |',
    '| --- | --- | --- |',
    ...rows,
    '',
    ...types.flatMap(section),
  ].join('\n');
}

function section(type: NodeType): string[] {
  const { properties = {}, required = [] } = type.config as ObjectSchema;
  const names = Object.keys(properties);
  const notes = [
    ...(type.branches === undefined
      ? []
      : [`Output ports, of which one is produced: ${code(type.branches)}.`]),
    ...(type.kind !== 'effect' || type.defaultTimeoutMs === undefined
      ? []
      : [
          `An attempt may take ${type.defaultTimeoutMs / 1000} s, unless the node's \`settings.timeoutMs\` says otherwise (0 = no limit).`,
        ]),
    ...(type.requires === undefined ? [] : [`Needs the capability ${code(type.requires)}.`]),
    ...(type.conformanceOnly === true ? ['Only on a host started with `--conformance`.'] : []),
  ];
  return [
    `## ${type.typeId}`,
    '',
    type.summary,
    '',
    ...notes.flatMap((note) => [note, '']),
    ...(names.length === 0
      ? ['No config.', '']
      : [
          '| config | required | value |',
          '| --- | --- | --- |',
          ...names.map((name) => row(name, required.includes(name), properties[name] ?? {})),
          '',
        ]),
  ];
}

interface ObjectSchema extends TSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
}

function row(name: string, isRequired: boolean, schema: JsonSchema): string {
  return `| \`${name}\` | ${isRequired ? 'yes' : ''} | ${valueOf(schema)} |`;
}

function valueOf(schema: JsonSchema): string {
  if (schema.enum !== undefined) return code(schema.enum.map(String));
  if (schema.anyOf !== undefined) return schema.anyOf.map(valueOf).join(' or ');
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : valueOf(schema.items)}`;
  return `${schema.type ?? 'anything'}${bounds(schema)}`;
}

function bounds({ minimum, maximum }: JsonSchema): string {
  if (minimum === undefined && maximum === undefined) return '';
  return maximum === undefined ? `, ${minimum} or more` : `, ${minimum ?? ''} to ${maximum}`;
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function anchor(typeId: string): string {
  return typeId.toLowerCase().replaceAll('.', '');
}
