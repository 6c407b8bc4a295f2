import { rename, rm, writeFile } from 'node:fs/promises';
import { resolve as resolvePath } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import { type Cli, HOST_ARGS, leaf, RUN_ARG } from '../parsing/command.ts';
import { connectToRun } from '../connecting/run-id.ts';
import { EXIT, unusable, usageError } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { control, shown } from '../output/terminal-text.ts';
import { shellCommand } from '../output/shell-command.ts';
import { countText } from '../output/count-text.ts';

export const bundle = leaf({
  name: 'bundle',
  summary: 'Save a run as a debug bundle, without its secrets and inputs',
  examples: [
    'weft bundle RUN',
    'weft bundle RUN -o failed-order.json',
    'weft bundle RUN -o - | gzip > run.gz',
  ],
  args: {
    run: RUN_ARG,
    output: {
      type: 'string',
      alias: 'o',
      valueHint: 'FILE',
      description: 'Output file (default RUN.bundle.json); - for stdout',
    },
    'max-events': { type: 'string', valueHint: 'N', description: 'Only the first N events of the log' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const options = parseMaxEvents(args['max-events']);
    const { client, runId } = await connectToRun(cli.io, args);
    const output = args.output ?? `${runId.replace(/[^\w.-]/g, '_')}.bundle.json`;
    const text = await read(cli, await client.bundles.text(runId, options), output !== '-');
    const summary = summaryOf(text);
    if (output === '-') cli.io.stdout.document(`${text}\n`);
    else await save(resolvePath(cli.io.cwd, output), text);
    tell(cli, output, summary);
    if (summary.truncated && !cli.json)
      cli.io.stderr.write(
        shown`The bundle is truncated. The whole log: ${shellCommand('runs events', [runId], '--json')}\n`,
      );
    return EXIT.done;
  },
});

function parseMaxEvents(text: string | undefined): { maxEvents?: number } {
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) throw usageError(`--max-events takes a number of events, not "${text}".`);
  return { maxEvents: Number(text) };
}

async function read(cli: Cli, pieces: AsyncIterable<string>, mayDraw: boolean): Promise<string> {
  const draws = mayDraw && cli.io.isTTY && !cli.json;
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (draws) cli.io.stderr.write(`${CLEARED}Reading the bundle: ${sizeText(text.length)}`);
  }
  if (draws) cli.io.stderr.write(CLEARED);
  return text;
}

/** The start of an empty line. */
const CLEARED = control('[G') + control('[K');

/** Whole or not at all: a file with half a bundle would be taken for a broken one. */
async function save(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}.part`;
  try {
    await writeFile(unfinished, text);
    await rename(unfinished, path);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw unusable('output_unwritable', `${path} cannot be written: ${reasonOf(cause)}.`, cause);
  }
}

interface Summary {
  readonly bytes: number;
  readonly events: number;
  readonly totalEvents: number;
  readonly truncated: boolean;
  /** Absent when the bundle is another host's, which does not say. */
  readonly masked?: number;
  readonly digest?: string;
  readonly signed: boolean;
}

function summaryOf(text: string): Summary {
  const { events, metrics, weft, truncated } = parse(text);
  const held = Array.isArray(events) ? events.length : 0;
  const extras = isJsonObject(weft) ? weft : {};
  const total = isJsonObject(metrics) ? metrics['eventCount'] : undefined;
  return {
    bytes: Buffer.byteLength(text),
    events: held,
    totalEvents: typeof total === 'number' ? total : held,
    truncated: truncated === true,
    ...(Array.isArray(extras['masked']) && { masked: extras['masked'].length }),
    ...(typeof extras['digest'] === 'string' && { digest: extras['digest'] }),
    signed: isJsonObject(extras['signature']),
  };
}

function parse(text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw unusable('bad_bundle', 'The host sent an incomplete JSON document. Try again.', cause);
  }
  if (!isJsonObject(value)) throw unusable('bad_bundle', 'The host did not send a bundle.');
  return value;
}

function tell(cli: Cli, output: string, summary: Summary): void {
  const { events, totalEvents, truncated, masked, signed, bytes } = summary;
  if (cli.json) {
    if (output !== '-') cli.io.stdout.write(`${JSON.stringify({ file: output, ...summary })}\n`);
    return;
  }
  const what = [
    truncated ? `the first ${events} of ${countText(totalEvents, 'event')}` : countText(events, 'event'),
    ...(masked === undefined ? [] : [`${countText(masked, 'value')} masked`]),
    ...(signed ? ['signed'] : []),
    sizeText(bytes),
  ].join(', ');
  if (output === '-') cli.io.stderr.write(shown`${what}\n`);
  else cli.io.stdout.write(shown`${output}  ${cli.style.dim(what)}\n`);
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
