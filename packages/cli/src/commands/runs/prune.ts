import { type Client, isTerminalStatus, type RunSummary } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT, type ExitCode, usageError } from '../../exit-code.ts';
import { parseMoment } from '../../parsing/moment.ts';
import { renderRunList } from '../../output/run-list.ts';
import { confirm } from './confirm.ts';
import { FILTER_ARGS, type FilterArgs, listRuns, parseFilter } from './filter.ts';
import { removeRuns } from './remove-runs.ts';
import { countText } from '../../output/count-text.ts';

const ENDED = ['completed', 'failed', 'cancelled'];
const MOST = 100_000;

export const prune = leaf({
  name: 'prune',
  summary: 'Remove runs that ended long ago',
  examples: [
    'weft runs prune --older-than 30d --dry-run',
    'weft runs prune --older-than 12w --status failed,cancelled',
    'weft runs prune --older-than 1d --tag nightly --yes',
  ],
  args: {
    'older-than': {
      type: 'string',
      valueHint: 'TIME',
      description: 'Ended before: 12h, 30d, 12w ago, or an ISO time',
    },
    status: FILTER_ARGS.status,
    workflow: FILTER_ARGS.workflow,
    tag: FILTER_ARGS.tag,
    'dry-run': { type: 'boolean', description: 'Only show what would be removed' },
    yes: { type: 'boolean', alias: 'y', description: 'Do not ask for confirmation' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const olderThan = args['older-than'];
    if (olderThan === undefined || olderThan === '')
      throw usageError('weft runs prune needs --older-than. Example: weft runs prune --older-than 30d');
    const now = Date.now();
    const before = parseMoment('older-than', olderThan, now);
    const { client } = await connect(cli.io, args);
    const found = await endedBefore(client, args, before, now);
    if (args['dry-run'] === true) return show(cli, found, now);
    if (found.length === 0) {
      if (!cli.json) cli.io.stderr.write('No runs found.\n');
      return EXIT.done;
    }
    if (args.yes !== true && !(await isConfirmed(cli, found, now))) {
      cli.io.stderr.write('Nothing was removed.\n');
      return EXIT.unmet;
    }
    const runIds = found.map(({ runId }) => runId);
    return removeRuns(cli, client, runIds, {
      done: 'removed',
      act: (to, runId) => to.operations.purge(runId),
    });
  },
});

/** Old is what ended before the time; the host can search by the time of creation, which was earlier still. */
async function endedBefore(
  client: Client,
  args: FilterArgs,
  before: string,
  now: number,
): Promise<RunSummary[]> {
  const { status = ENDED, ...filter } = parseFilter(args, now);
  const open = status.filter((name) => !isTerminalStatus(name));
  if (open.length > 0)
    throw usageError(`--status ${open.join(',')}: only runs that have ended can be removed.`);
  const found: RunSummary[] = [];
  for await (const run of listRuns(client, { ...filter, status, until: before }, MOST)) {
    if (Date.parse(run.completedAt ?? run.createdAt) < Date.parse(before)) found.push(run);
  }
  return found;
}

function show(cli: Cli, found: readonly RunSummary[], now: number): ExitCode {
  if (cli.json) {
    for (const { runId } of found) cli.io.stdout.write(`${JSON.stringify({ runId, wouldRemove: true })}\n`);
    return EXIT.done;
  }
  if (found.length > 0) cli.io.stdout.write(`${renderRunList(cli.style, found, now)}\n`);
  cli.io.stderr.write(`${countText(found.length, 'run')} would be removed. Nothing was changed.\n`);
  return EXIT.done;
}

function isConfirmed(cli: Cli, found: readonly RunSummary[], now: number): Promise<boolean> {
  const count = found.length;
  if (cli.io.isTTY) cli.io.stderr.write(`${renderRunList(cli.style, found.slice(0, 20), now)}\n`);
  return confirm(cli.io, `This removes ${countText(count, 'run')} permanently.`, { count });
}
