import { resolve } from 'node:path';
import type { NewPrompt } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { readJsonFile } from '../../parsing/key-values.ts';

export const create = leaf({
  name: 'create',
  summary: 'Add a prompt template, or another version of one, from a JSON file',
  examples: ['weft prompts create greeting.json'],
  args: {
    file: {
      type: 'positional',
      description: 'JSON with templateId, version, kind, text and variables',
      required: true,
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const template = (await readJsonFile(resolve(cli.io.cwd, args.file))) as object;
    const { client } = await connect(cli.io, args);
    const made = await client.prompts.create(template as NewPrompt);
    const text = cli.json ? JSON.stringify(made) : `prompt:${made.templateId}@${made.version}  added`;
    cli.io.stdout.write(shown`${text}\n`);
    return EXIT.done;
  },
});
