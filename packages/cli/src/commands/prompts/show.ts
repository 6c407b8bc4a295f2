import type { Prompt } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import type { Style } from '../../output/style.ts';
import { renderFields } from '../../output/table.ts';
import { numberedLines } from '../../output/numbered-lines.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { parsePromptRef, PROMPT_ARG } from './prompt-ref.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show a prompt template: its text and its variables',
  examples: ['weft prompts show greeting', 'weft prompts show greeting@1.0.0 --json'],
  args: { prompt: PROMPT_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { templateId, version } = parsePromptRef(args.prompt);
    const { client } = await connect(cli.io, args);
    const prompt = await client.prompts.get(templateId, version === undefined ? {} : { version });
    cli.io.stdout.write(`${cli.json ? JSON.stringify(prompt) : rendered(cli.style, prompt)}\n`);
    return EXIT.done;
  },
});

function rendered(style: Style, prompt: Prompt): string {
  const { templateId, version, kind, name, description, variables = [], tags = [], meta, text } = prompt;
  const fields = renderFields(style, [
    ['template', `prompt:${templateId}@${version}`],
    ['kind', kind],
    ['name', name],
    ['description', description],
    ['variables', variables.length === 0 ? undefined : variables.map(variableText).join(', ')],
    ['tags', tags.length === 0 ? undefined : tags.join(' ')],
    ['updated', meta?.updatedAt],
  ]);
  return `${fields}\n\n${numberedLines(text)}`;
}

function variableText({ name, type, required }: NonNullable<Prompt['variables']>[number]): string {
  return `${name}: ${type}${required ? '' : ' (optional)'}`;
}
