import { isHostError, STREAM_MODES, type StreamMode } from '@weft/protocol/plain';
import type { Client, RunEvent, RunEventDocument, Streamed } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { waitingText } from '../../output/question.ts';
import { eventLine } from '../../output/run-view.ts';
import { createQuestionNotices } from '../../interrupts/question-notices.ts';
import { shown } from '../../output/terminal-text.ts';

export const events = leaf({
  name: 'events',
  summary: 'Show the events of a run, or follow them',
  examples: [
    'weft runs events RUN',
    'weft runs events RUN --follow',
    'weft runs events RUN --mode updates --json',
  ],
  args: {
    run: RUN_ARG,
    follow: { type: 'boolean', alias: 'f', description: 'Follow until the run ends' },
    mode: {
      type: 'string',
      valueHint: STREAM_MODES.join('|'),
      default: 'debug',
      description: 'Which events; several with commas',
    },
    after: { type: 'string', valueHint: 'SEQ', description: 'Only events after this sequence' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const modes = await parseModes(args.mode);
    const after = parseAfter(args.after);
    const { client, runId } = await connectToRun(cli.io, args);
    if (args.follow === true) return follow(cli, client, runId, modes, after);
    if (modes.includes('values'))
      throw usageError('--mode values needs --follow: snapshots are only streamed.');
    await printStored(cli, client, runId, modes, after);
    return EXIT.done;
  },
});

async function parseModes(text: string): Promise<readonly StreamMode[]> {
  const { parseStreamModes } = await import('@weft/protocol');
  try {
    return parseStreamModes(text);
  } catch (error) {
    if (isHostError(error)) throw usageError(`--mode: ${error.message}`);
    throw error;
  }
}

function parseAfter(text: string | undefined): { after?: number } {
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) throw usageError(`--after takes a sequence number, not "${text}".`);
  return { after: Number(text) };
}

async function follow(
  cli: Cli,
  client: Client,
  runId: string,
  mode: readonly StreamMode[],
  after: { after?: number },
): Promise<0> {
  const leave = new AbortController();
  const offSignal = cli.io.onSignal(() => leave.abort());
  const print = eventPrinter(cli);
  const notices = createQuestionNotices((question) => {
    if (!cli.json) cli.io.stderr.write(`${waitingText(question)}\n`);
  });
  try {
    for await (const item of client.runs.events(runId, { mode, ...after, signal: leave.signal })) {
      if (isEvent(item)) {
        print(item);
        notices.see(item);
      } else cli.io.stdout.write(shown`${JSON.stringify(item)}\n`);
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  } finally {
    notices.close();
    offSignal();
  }
  return EXIT.done;
}

/** Snapshots and pieces of text are no events. */
function isEvent(item: Streamed<StreamMode>): item is RunEvent {
  return 'type' in item;
}

async function printStored(
  cli: Cli,
  client: Client,
  runId: string,
  modes: readonly StreamMode[],
  start: { after?: number },
): Promise<void> {
  const { admits } = await import('@weft/protocol');
  const print = eventPrinter(cli);
  let position = start;
  for (;;) {
    const page = await client.runs.poll(runId, { ...position, timeoutSeconds: 1 });
    for (const event of page.events) if (admits(modes, event.type)) print(event);
    const last = page.events.at(-1);
    if (last === undefined || page.isComplete) return;
    position = { after: last.sequence };
  }
}

function eventPrinter(cli: Cli): (event: RunEventDocument) => void {
  let startedAt: number | undefined;
  return (event) => {
    startedAt ??= Date.parse(event.timestamp);
    cli.io.stdout.write(
      shown`${cli.json ? JSON.stringify(event) : eventLine(cli.style, event, startedAt)}\n`,
    );
  };
}
