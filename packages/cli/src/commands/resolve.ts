import { resolve as resolvePath } from 'node:path';
import type { Json } from '@weft/protocol';
import { QUESTION_ARGS, answerQuestion } from '../interrupts/answer-question.ts';
import { leaf } from '../parsing/command.ts';
import { usageError } from '../exit-code.ts';
import { parseJsonText, readJsonFile } from '../parsing/key-values.ts';

export const resolve = leaf({
  name: 'resolve',
  summary: 'Resolve any interrupt of a run with a JSON value',
  examples: [
    'weft resolve RUN --value @event.json',
    `weft resolve RUN payment --value '{"orderId":"A-17","paid":true}'`,
  ],
  args: {
    ...QUESTION_ARGS,
    value: { type: 'string', valueHint: 'JSON|@FILE', description: 'The whole answer' },
  },
  async run({ cli, args }) {
    if (args.value === undefined)
      throw usageError('weft resolve needs --value, such as --value @event.json.');
    const value = await readValue(args.value, cli.io.cwd);
    return answerQuestion(cli, args, { runId: args.run, node: args.node, value });
  },
});

function readValue(text: string, cwd: string): Json | Promise<Json> {
  return text.startsWith('@')
    ? readJsonFile(resolvePath(cwd, text.slice(1)))
    : parseJsonText('--value', text);
}
