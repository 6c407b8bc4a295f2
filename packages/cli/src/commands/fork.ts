import { isJsonObject, type JsonObject, type WorkflowDefinition } from '@weft/protocol/plain';
import { ApiError, type Client, type ForkedRun, type ForkRequest, type RunEventDocument } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf, RUN_ARG } from '../parsing/command.ts';
import type { TargetArgs } from '../connecting/connection.ts';
import { connectToRun } from '../connecting/run-id.ts';
import { EXIT, type ExitCode, usageError } from '../exit-code.ts';
import { asDeclared } from '../parsing/declared-inputs.ts';
import { readGivenValues, readKeyValues } from '../parsing/key-values.ts';
import { consumedInputs, consumedText } from '../output/consumed-inputs.ts';
import { collectReport } from '../output/diff/collect-report.ts';
import { compare, openSides } from '../output/diff/compare.ts';
import { readDiff } from '../output/diff/read-diff.ts';
import { renderDiffText } from '../output/diff/text-view.ts';
import { watchRun } from '../output/watch-run.ts';
import { shown } from '../output/terminal-text.ts';
import { shellCommand } from '../output/shell-command.ts';
import { shownDefinition } from './workflows/find-workflow.ts';

const SHOWN = 50;
const DEFAULT_COLUMNS = 100;

export const fork = leaf({
  name: 'fork',
  summary: 'Fork a run from one of its events, or replay it',
  examples: [
    'weft fork RUN --from 12 --set model=small --watch --diff',
    'weft fork RUN --from 12 --input orderId=A-18 --watch',
    'weft fork RUN --from 12 --version 2.1',
    'weft fork RUN --replay --watch --diff',
  ],
  args: {
    run: RUN_ARG,
    from: {
      type: 'string',
      valueHint: 'SEQ',
      description: 'First sequence to run again; earlier events are kept (default with --replay: 0)',
    },
    replay: {
      type: 'boolean',
      description: 'Replay the run from its recorded results, without calling anything',
    },
    set: {
      type: 'string',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'Set a key of configurable, such as model=small; may be repeated',
    },
    input: {
      type: 'string',
      alias: 'i',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'Replace an input; JSON is parsed unless the workflow declares a string; may be repeated',
    },
    version: { type: 'string', valueHint: 'V', description: 'Continue with another version of the workflow' },
    'idempotency-key': {
      type: 'string',
      valueHint: 'KEY',
      description: 'Repeating the command with this key returns the same fork',
    },
    watch: {
      type: 'boolean',
      alias: 'w',
      description: 'Follow the fork to its end; the exit code is its outcome',
    },
    diff: {
      type: 'boolean',
      description: 'Follow the fork, then show how it differs from the run, paired by node',
    },
    align: {
      type: 'enum',
      options: ['node'],
      description: 'How --diff pairs events: by node, type and occurrence (the default for people)',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { io } = cli;
    const given = await readGivenValues('input', all('input'), io.cwd);
    const names = Object.keys(given.values);
    const request = requestOf(args, {
      configurable: await readKeyValues('set', all('set'), io.cwd),
      values: given.values,
      version: args.version,
    });
    if (cli.json && args.align !== undefined)
      throw usageError('--align node is a view for people and has no JSON form; remove --json.');
    const { client, runId } = await connectToRun(io, args);
    const key = args['idempotency-key'];
    const definition = names.length === 0 ? undefined : await definitionOf(client, runId);
    const forked = await client.runs.fork(
      runId,
      definition === undefined ? request : { ...request, values: asDeclared(definition, given) },
      key === undefined ? {} : { idempotencyKey: key },
    );
    if (!cli.json && definition !== undefined) {
      const kept = await firstEvents(client, forked.sourceRunId, forked.fromSeq);
      // A changed input changes nothing that was made of it before the cut, and a person may expect that it does.
      for (const consumed of consumedInputs(definition, names, kept))
        io.stderr.write(`${consumedText(consumed, forked.fromSeq)}\n`);
    }
    return deliverFork(cli, client, forked, args);
  },
});

/** Undefined where this key may not read the definition, or it does not exist; the host decides whether the run can be forked. */
async function definitionOf(client: Client, runId: string): Promise<WorkflowDefinition | undefined> {
  try {
    const { workflowId, weft } = await client.runs.get(runId);
    const version = isJsonObject(weft) ? weft['workflowVersion'] : undefined;
    return await shownDefinition(client, workflowId, typeof version === 'string' ? version : undefined);
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 410].includes(error.status)) return undefined;
    throw error;
  }
}

/** More is not read for the sake of a warning. */
const MOST_EVENTS = 20_000;

async function firstEvents(client: Client, runId: string, count: number): Promise<RunEventDocument[]> {
  const events: RunEventDocument[] = [];
  const wanted = Math.min(count, MOST_EVENTS);
  for await (const event of client.runs.log(runId)) {
    if (event.sequence >= wanted) break;
    events.push(event);
  }
  return events;
}

interface Changes {
  readonly configurable: JsonObject;
  readonly values: JsonObject;
  readonly version: string | undefined;
}

function requestOf(
  { from, replay }: { from?: string | undefined; replay?: boolean | undefined },
  { configurable, values, version }: Changes,
): ForkRequest {
  const isChanged = (object: JsonObject): boolean => Object.keys(object).length > 0;
  const fromSeq = from === undefined ? {} : { fromSeq: parseSeq('from', from) };
  if (replay === true) {
    if (isChanged(configurable) || isChanged(values) || version !== undefined)
      throw usageError(
        'A replay cannot be changed: remove --replay, or remove --set, --input and --version.',
      );
    return { mode: 'replay', ...fromSeq };
  }
  if (from === undefined)
    throw usageError(
      '--from SEQ is needed: the first sequence to run again. List them with: weft runs events RUN',
    );
  return {
    mode: 'branch',
    ...fromSeq,
    ...(isChanged(configurable) && { runOptionsOverlay: { configurable } }),
    ...(isChanged(values) && { values }),
    ...(version !== undefined && { workflowVersion: version }),
  };
}

export function parseSeq(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usageError(`--${flag} takes a sequence number, not "${text}".`);
  return Number(text);
}

export interface FollowArgs extends TargetArgs {
  readonly watch?: boolean | undefined;
  readonly diff?: boolean | undefined;
}

/** Says what was made; follows it and compares it with its source when asked to. */
export async function deliverFork(
  cli: Cli,
  client: Client,
  forked: ForkedRun,
  args: FollowArgs,
): Promise<ExitCode> {
  const { io } = cli;
  const { runId, sourceRunId, fromSeq, mode } = forked;
  if (!cli.json) io.stderr.write(shown`Forked ${sourceRunId} from #${fromSeq} as a ${mode}: ${runId}\n`);
  if (args.watch !== true && args.diff !== true) {
    io.stdout.write(shown`${cli.json ? JSON.stringify(forked) : runId}\n`);
    if (!cli.json)
      io.stderr.write(
        shown`Watch it:    ${shellCommand('runs events', [runId], '--follow')}\nCompare it:  ${shellCommand('diff', [sourceRunId, runId])}\n`,
      );
    return EXIT.done;
  }
  const outcome = await watchRun(cli, client, runId);
  if (args.diff === true && outcome !== EXIT.unmet) await printDiff(cli, forked, args);
  else if (!cli.json) io.stderr.write(shown`Compare it:  ${shellCommand('diff', [sourceRunId, runId])}\n`);
  return outcome;
}

async function printDiff(cli: Cli, { sourceRunId, runId }: ForkedRun, args: TargetArgs): Promise<void> {
  const { io } = cli;
  const [a, b] = await openSides(io, args, [
    { label: sourceRunId, keyVariable: 'WEFT_API_KEY_A' },
    { label: runId, keyVariable: 'WEFT_API_KEY_B' },
  ]);
  const pieces = await compare(a, b);
  if (cli.json) {
    for await (const piece of pieces) io.stdout.document(piece);
    io.stdout.write('\n');
    return;
  }
  const asked = { limit: SHOWN, isFirst: false, isAligned: true };
  const report = await collectReport(readDiff(pieces), a, b, asked);
  const text = renderDiffText(cli.style, { ...report, isAlignedAlone: true }, io.columns ?? DEFAULT_COLUMNS);
  io.stdout.write(`\n${text}\n`);
  if (report.total > 0) io.stderr.write(shown`By sequence: ${shellCommand('diff', [sourceRunId, runId])}\n`);
}
