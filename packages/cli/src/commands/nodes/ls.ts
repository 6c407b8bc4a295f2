import type { NodeTypeEntry } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List node types that workers have served, or those of the host too',
  examples: ['weft nodes ls', 'weft nodes ls acme.charge', 'weft nodes ls --all', 'weft nodes ls --json'],
  args: {
    type: { type: 'positional', description: 'Only versions of this type', required: false },
    all: { type: 'boolean', description: 'Also the types of the host itself; --json always has them' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const types = await client.nodeTypes.list(args.type === undefined ? {} : { typeId: args.type });
    if (cli.json) {
      for (const type of types) io.stdout.write(`${JSON.stringify(type)}\n`);
      return EXIT.done;
    }
    const rows =
      args.all === true || args.type !== undefined ? types : types.filter(({ builtin }) => !builtin);
    if (rows.length === 0) io.stderr.write(`${nothing(args.type)}\n`);
    else io.stdout.write(`${renderTable<NodeTypeEntry>(cli.style, COLUMNS, rows)}\n`);
    return EXIT.done;
  },
});

function nothing(type: string | undefined): string {
  return type === undefined
    ? 'No worker has served a node type yet. Those of the host: weft nodes ls --all'
    : 'No node type has this id. List them: weft nodes ls --all';
}

const COLUMNS = [
  { title: 'TYPE', value: ({ typeId }: NodeTypeEntry) => typeId },
  {
    title: 'VERSION',
    value: ({ version, builtin }: NodeTypeEntry) => version ?? (builtin ? 'built in' : ''),
  },
  {
    title: 'WORKERS',
    value: ({ workers }: NodeTypeEntry) => workers?.toString() ?? '',
    align: 'right' as const,
  },
  { title: 'INPUTS', value: ({ inputs }: NodeTypeEntry) => portsText(inputs) },
  { title: 'OUTPUTS', value: ({ outputs }: NodeTypeEntry) => portsText(outputs) },
  { title: 'TITLE', value: ({ title }: NodeTypeEntry) => title ?? '' },
];

/** Names of the ports; those that may be left out end with a question mark. */
function portsText(schema: NodeTypeEntry['inputs'] = {}): string {
  const { properties, required, additionalProperties } = schema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const isRequired = (name: string): boolean => !Array.isArray(required) || required.includes(name);
  const shown = names.map((name) => (isRequired(name) ? name : `${name}?`));
  return [...shown, ...(additionalProperties === true ? ['…'] : [])].join(', ');
}
