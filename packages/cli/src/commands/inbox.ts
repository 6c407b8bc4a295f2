import type { OpenInterrupt } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../parsing/command.ts';
import { connect } from '../connecting/connection.ts';
import { EXIT } from '../exit-code.ts';
import { renderInbox } from '../output/inbox-list.ts';
import { answerCommands } from '../output/question.ts';
import { parseLimit } from './runs/filter.ts';
import { shown } from '../output/terminal-text.ts';

export const inbox = leaf({
  name: 'inbox',
  summary: 'List open interrupts: what runs are waiting for',
  examples: ['weft inbox', 'weft inbox --json'],
  args: {
    limit: { type: 'string', valueHint: 'N', default: '100', description: 'How many at most' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const limit = parseLimit(args.limit);
    const { client } = await connect(io, args);
    const questions: OpenInterrupt[] = [];
    let isCut = false;
    for await (const question of client.interrupts.list()) {
      if (questions.length === limit) {
        isCut = true;
        break;
      }
      questions.push(question);
      if (cli.json) io.stdout.write(`${JSON.stringify(question)}\n`);
    }
    if (cli.json) return EXIT.done;
    const [first] = questions;
    if (first === undefined) {
      io.stderr.write('No open interrupts.\n');
      return EXIT.done;
    }
    io.stdout.write(`${renderInbox(cli.style, questions, Date.now())}\n`);
    if (isCut) io.stderr.write(`Shown: the first ${limit}. There are more: --limit ${limit * 5}\n`);
    io.stderr.write(shown`Answer the first: ${answerCommands(first)[0]}\n`);
    return EXIT.done;
  },
});
