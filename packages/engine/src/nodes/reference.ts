import type { TSchema } from 'typebox';
import type { NodeType } from '../model/node-type.ts';
import { NODE_DOCS, type NodeDocs } from './node-docs.ts';

/** The reference page of the node types, from the types themselves and what is written about them. A test keeps docs/reference/nodes.md in step. */
export function renderNodeReference(unsorted: readonly NodeType[]): string {
  const types = unsorted.toSorted((a, b) => (a.typeId < b.typeId ? -1 : 1));
  const rows = types.map(
    (type) => `| [\`${type.typeId}\`](#${anchor(type.typeId)}) | ${type.kind} | ${type.summary} |`,
  );
  return [
    '# Node types',
    '',
    'Generated from the node types of the engine. `pure` nodes compute, `timer` nodes wait, `effect` nodes touch the world, `interrupt`',
    'nodes ask a person or wait for an event, `loop` nodes repeat others, `children` nodes run other workflows. Config objects are closed: an',
    'unknown field refuses the definition.',
    '',
    'A port `*` stands for any name. Every node may have `settings` (retries, timeout) and takes its inputs from edges and from what it declares:',
    '[writing workflows](../guide/writing-workflows.md). Outputs of one node: at most 256 KiB (`max-payload-bytes`); its inputs: at most 4 MiB.',
    '',
    '| type | kind | what it does |',
    '| --- | --- | --- |',
    ...rows,
    '',
    ...types.flatMap(section),
  ].join('\n');
}

function section(type: NodeType): string[] {
  const docs = NODE_DOCS[type.typeId];
  if (docs === undefined) throw new Error(`${type.typeId} is not documented in nodes/node-docs.ts.`);
  const notes = [
    ...(type.branches === undefined
      ? []
      : [`An edge from ${code(type.branches)} is taken only when that port has a value.`]),
    ...((type.kind !== 'effect' && type.kind !== 'steps') || type.defaultTimeoutMs === undefined
      ? []
      : [
          `An attempt may take ${type.defaultTimeoutMs / 1000} s, unless the node's \`settings.timeoutMs\` says otherwise (0 = no limit).`,
        ]),
    ...(docs.limits ?? []),
    ...(type.takesCredentialsRef === true
      ? ['The node’s `credentialsRef` is the id of a secret that is sent as `Authorization: Bearer …`.']
      : []),
    ...(type.requires === undefined ? [] : [`Needs the capability ${code(type.requires)}.`]),
    ...(type.conformanceOnly === true ? ['Only on a host started with `--conformance`.'] : []),
  ];
  return [
    `## ${type.typeId}`,
    '',
    type.summary,
    '',
    ...configTable(type, docs),
    ...portTable('input port', 'Inputs: none.', docs.inputs),
    ...portTable('output port', 'Outputs: none.', docs.outputs),
    ...(notes.length === 0 ? [] : [...notes.map((note) => `- ${note}`), '']),
    '```json',
    exampleOf(type, docs),
    '```',
    '',
  ];
}

function configTable({ config }: NodeType, docs: NodeDocs): string[] {
  const { properties = {}, required = [] } = config as ObjectSchema;
  const names = Object.keys(properties);
  if (names.length === 0) return ['Config: none.', ''];
  return [
    '| config | required | value | meaning |',
    '| --- | --- | --- | --- |',
    ...names.map((name) =>
      row(name, required.includes(name), properties[name] ?? {}, docs.config[name] ?? ''),
    ),
    '',
  ];
}

function portTable(title: string, none: string, ports: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(ports);
  if (entries.length === 0) return [none, ''];
  return [
    `| ${title} | value |`,
    '| --- | --- |',
    ...entries.map(([port, value]) => `| \`${port}\` | ${value} |`),
    '',
  ];
}

/** As it stands in `nodes` of a definition. */
function exampleOf({ typeId, title }: NodeType, { example }: NodeDocs): string {
  const { config, inputs = {}, ...rest } = example;
  const head = `{ "id": "sample", "typeId": "${typeId}", "name": "${title}", "position": { "x": 0, "y": 0 },`;
  const more = Object.entries(rest).map(([name, value]) => `, "${name}": ${JSON.stringify(value)}`);
  return `${head}\n  "config": ${JSON.stringify(config)},\n  "inputs": ${JSON.stringify(inputs)}${more.join('')} }`;
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
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly const?: unknown;
}

function row(name: string, isRequired: boolean, schema: JsonSchema, meaning: string): string {
  return `| \`${name}\` | ${isRequired ? 'yes' : ''} | ${valueOf(schema)} | ${meaning} |`;
}

function valueOf(schema: JsonSchema): string {
  if (schema.enum !== undefined) return code(schema.enum.map(String));
  if (schema.anyOf !== undefined) return schema.anyOf.map(valueOf).join(' or ');
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : valueOf(schema.items)}${schema.maxItems === undefined ? '' : `, at most ${schema.maxItems}`}`;
  if (schema.const !== undefined) return code([String(schema.const)]);
  return `${schema.type ?? 'anything'}${bounds(schema)}`;
}

function bounds({ minimum, maximum, maxLength }: JsonSchema): string {
  if (maxLength !== undefined) return `, at most ${number(maxLength)} characters`;
  if (minimum === undefined && maximum === undefined) return '';
  return maximum === undefined
    ? `, ${number(minimum ?? 0)} or more`
    : `, ${number(minimum ?? 0)} to ${number(maximum)}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function anchor(typeId: string): string {
  return typeId.toLowerCase().replaceAll('.', '');
}
