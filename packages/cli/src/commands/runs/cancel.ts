import type { BulkCancelItem, Client, RunSummary } from '@weft/sdk';
import { isTerminalStatus } from '@weft/sdk';
import { RUN_STATUSES } from '@weft/protocol/plain';
import { type Cli, HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { resolveRunIds } from '../../connecting/run-id.ts';
import { CliError, EXIT, type ExitCode, usageError } from '../../exit-code.ts';
import { renderRunList } from '../../output/run-list.ts';
import { FILTER_ARGS, type FilterArgs, listRuns, parseFilter } from './filter.ts';
import { shown } from '../../output/terminal-text.ts';
import { countText } from '../../output/count-text.ts';

const CHUNK = 100; // what one bulk request may hold

export const cancel = leaf({
  name: 'cancel',
  summary: 'Cancel runs, by id or by filter',
  examples: [
    'weft runs cancel RUN',
    'weft runs cancel RUN-1 RUN-2 --reason "wrong price list"',
    'weft runs cancel --workflow reminder --since 1h --dry-run',
    'weft runs cancel --tag nightly --yes',
  ],
  variadic: true,
  args: {
    run: { ...RUN_ARG, required: false },
    reason: { type: 'string', valueHint: 'TEXT', description: 'Reason; recorded in the run’s log' },
    ...FILTER_ARGS,
    'dry-run': { type: 'boolean', description: 'Only show what would be cancelled' },
    yes: { type: 'boolean', alias: 'y', description: 'Cancel everything the filter finds' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const typed = args._;
    const isFiltered = Object.keys(FILTER_ARGS).some((flag) => args[flag] !== undefined);
    if (typed.length > 0 === isFiltered)
      throw usageError('weft runs cancel needs run ids or a filter, not both. See: weft runs cancel --help');
    const { client } = await connect(cli.io, args);
    const ids = await resolveRunIds(client, typed);
    const reason = args.reason === undefined ? {} : { reason: args.reason };
    if (ids.length === 1 && args['dry-run'] !== true) return cancelOne(cli, client, ids[0] ?? '', reason);
    const found = isFiltered ? await findRuns(client, args) : undefined;
    const targets = found?.map((run) => run.runId) ?? ids;
    if (args['dry-run'] === true) return showTargets(cli, targets, found);
    if (found !== undefined && args.yes !== true) throw notConfirmed(targets.length);
    return cancelMany(cli, client, targets, reason);
  },
});

async function cancelOne(
  cli: Cli,
  client: Client,
  runId: string,
  reason: { reason?: string },
): Promise<ExitCode> {
  const answer = await client.runs.cancel(runId, reason);
  cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.runId}  ${answer.status}`}\n`);
  if (answer.status === 'cancelled' || answer.status === 'cancelling') return EXIT.done;
  if (!cli.json) cli.io.stderr.write(shown`The run had already ended: ${answer.status}.\n`);
  return EXIT.unmet;
}

async function findRuns(client: Client, args: FilterArgs): Promise<RunSummary[]> {
  const filter = parseFilter(args, Date.now());
  const open = RUN_STATUSES.filter((status) => !isTerminalStatus(status) && status !== 'cancelling');
  const found: RunSummary[] = [];
  for await (const run of listRuns(client, { ...filter, status: filter.status ?? open }, 100_000)) {
    if (!isTerminalStatus(run.status)) found.push(run);
  }
  return found;
}

function showTargets(cli: Cli, ids: readonly string[], found: readonly RunSummary[] | undefined): ExitCode {
  if (cli.json) {
    for (const runId of ids) cli.io.stdout.write(`${JSON.stringify({ runId, wouldCancel: true })}\n`);
    return EXIT.done;
  }
  cli.io.stdout.write(
    `${found === undefined ? ids.join('\n') : renderRunList(cli.style, found, Date.now())}\n`,
  );
  cli.io.stderr.write(`${countText(ids.length, 'run')} would be cancelled. Nothing was changed.\n`);
  return EXIT.done;
}

function notConfirmed(count: number): CliError {
  return new CliError(
    EXIT.unmet,
    'confirmation_required',
    `This would cancel ${countText(count, 'run')}. Check with --dry-run, then repeat with --yes.`,
    { details: { count } },
  );
}

async function cancelMany(
  cli: Cli,
  client: Client,
  runIds: readonly string[],
  reason: { reason?: string },
): Promise<ExitCode> {
  let failed = 0;
  for (let start = 0; start < runIds.length; start += CHUNK) {
    const { results } = await client.runs.bulkCancel(runIds.slice(start, start + CHUNK), reason);
    for (const item of results) {
      if (!item.ok) failed += 1;
      cli.io.stdout.write(shown`${cli.json ? JSON.stringify(item) : itemLine(item)}\n`);
    }
  }
  if (!cli.json) cli.io.stderr.write(`${runIds.length - failed} cancelled, ${failed} not.\n`);
  return failed === 0 ? EXIT.done : EXIT.failed;
}

function itemLine(item: BulkCancelItem): string {
  return `${item.runId}  ${item.ok ? (item.status ?? 'cancelled') : `not cancelled: ${item.error?.message ?? 'unknown'}`}`;
}
