import type { PromptTemplateDocument } from '@weft/protocol';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { numberedLines } from '../../output/numbered-lines.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { readKeyValues } from '../../parsing/key-values.ts';
import { parsePromptRef, PROMPT_ARG } from './prompt-ref.ts';

export const render = leaf({
  name: 'render',
  summary: 'Show what a prompt template becomes with values, as a node would send it; asks no model',
  examples: [
    'weft prompts render greeting --var customer=Ada',
    'weft prompts render greeting@1.0.0 --var customer=Ada --untrusted --json',
  ],
  args: {
    prompt: PROMPT_ARG,
    var: {
      type: 'string',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'A variable; JSON values are parsed; may be repeated',
    },
    untrusted: { type: 'boolean', description: 'Put values between marks, as nodes do' },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { io } = cli;
    const variables = await readKeyValues('var', all('var'), io.cwd);
    const { templateId, version } = parsePromptRef(args.prompt);
    const { client } = await connect(io, args);
    const contentTrust = args.untrusted === true ? 'untrusted' : 'trusted';
    const ref = `prompt:${templateId}${version === undefined ? '' : `@${version}`}`;
    const rendered = await client.prompts.render({ ref, variables, contentTrust });
    const { version: used = '' } = parsePromptRef(rendered.refs[0] ?? '');
    // The host returns hashes only: the text is composed here, from the version that it used.
    const template = (await client.prompts.get(templateId, { version: used })) as PromptTemplateDocument;
    const { composePrompt } = await import('@weft/protocol');
    const { text } = composePrompt(template, variables, contentTrust === 'untrusted');
    if (cli.json) io.stdout.write(`${JSON.stringify({ ...rendered, composed: text })}\n`);
    else io.stdout.write(`${numberedLines(text)}\n`);
    if (!cli.json) io.stderr.write(shown`${rendered.refs.join(' ')}  ${rendered.hash}\n`);
    return EXIT.done;
  },
});
