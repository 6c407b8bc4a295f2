import type { Prompt, PromptQuery } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

const PAGE = 200;

export const ls = leaf({
  name: 'ls',
  summary: 'List the prompt templates of your tenant, each with its newest version',
  examples: ['weft prompts ls', 'weft prompts ls --kind system --tag support'],
  args: {
    kind: { type: 'string', valueHint: 'KIND', description: 'system, user, few-shot or schema-hint' },
    tag: { type: 'string', valueHint: 'TAG', description: 'Only with this tag; may be repeated' },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { client } = await connect(cli.io, args);
    const tags = all('tag');
    const query: PromptQuery = {
      limit: PAGE,
      ...(args.kind !== undefined && { kind: args.kind as Prompt['kind'] }),
      ...(tags.length > 0 && { tag: tags }),
    };
    const found: Prompt[] = [];
    for await (const prompt of client.prompts.list(query)) {
      if (cli.json) cli.io.stdout.write(`${JSON.stringify(prompt)}\n`);
      else found.push(prompt);
    }
    if (cli.json) return EXIT.done;
    if (found.length === 0) cli.io.stderr.write('No prompt templates. weft prompts create adds one.\n');
    else cli.io.stdout.write(`${renderTable<Prompt>(cli.style, COLUMNS, found)}\n`);
    return EXIT.done;
  },
});

const COLUMNS = [
  { title: 'TEMPLATE', value: ({ templateId }: Prompt) => templateId },
  { title: 'VERSION', value: ({ version }: Prompt) => version },
  { title: 'KIND', value: ({ kind }: Prompt) => kind },
  {
    title: 'VARIABLES',
    value: ({ variables = [] }: Prompt) => variables.map(({ name }) => name).join(' ') || '-',
  },
  { title: 'NAME', value: ({ name = '' }: Prompt) => name },
];
