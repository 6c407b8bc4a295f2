import type { CostEntry, CostGroup, CostReport, CostSums } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { countText } from '../../output/count-text.ts';
import { type Column, renderTable } from '../../output/table.ts';
import { visibleText } from '../../output/terminal-text.ts';
import { type Cli, HOST_ARGS, leaf } from '../../parsing/command.ts';

const GROUPS: Readonly<Record<CostGroup, readonly Column<CostEntry>[]>> = {
  day: [{ title: 'DAY', value: ({ day = '' }) => day }],
  workflow: [{ title: 'WORKFLOW', value: ({ workflowId = '' }) => workflowId }],
  model: [{ title: 'MODEL', value: ({ provider = '', model = '' }) => `${provider}/${model}` }],
  run: [{ title: 'RUN', value: ({ runId = 'deleted runs' }) => runId }],
};

export const ls = leaf({
  name: 'ls',
  summary: 'Sum up what model calls have used and cost',
  examples: [
    'weft costs ls',
    'weft costs ls --by workflow --since 2026-11-01',
    'weft costs ls --by model --json',
  ],
  args: {
    by: { type: 'string', valueHint: 'GROUP', description: 'day, workflow, model or run (default day)' },
    since: { type: 'string', valueHint: 'DAY', description: 'The first UTC day (default 30 days in all)' },
    until: { type: 'string', valueHint: 'DAY', description: 'The last UTC day (default today)' },
    limit: { type: 'string', valueHint: 'N', description: 'At most this many lines (default 100)' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { since, until } = args;
    const limit = limitOf(args.limit);
    const filter = {
      by: groupOf(args.by),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(limit !== undefined && { limit }),
    };
    const { client } = await connect(cli.io, args);
    const report = await client.costs.report(filter);
    if (cli.json) cli.io.stdout.write(`${JSON.stringify(report)}\n`);
    else print(cli, report);
    return EXIT.done;
  },
});

function groupOf(text = 'day'): CostGroup {
  const names = Object.keys(GROUPS) as CostGroup[];
  const group = names.find((name) => name === text);
  if (group === undefined) throw usageError(`--by takes ${names.join(', ')}; not "${text}".`);
  return group;
}

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 1_000) throw usageError(`--limit takes a number from 1 to 1000; not "${text}".`);
  return limit;
}

function print({ io, style }: Cli, report: CostReport): void {
  const { by, since, until, costs, total, hasMore, countedSince } = report;
  if (costs.length === 0) {
    io.stderr.write(`No model was called from ${visibleText(since)} to ${visibleText(until)}.\n`);
    return;
  }
  const table = renderTable<CostEntry>(style, [...GROUPS[by], ...SUMS], costs);
  const unpriced =
    total.unpricedCalls === 0 ? '' : `, ${countText(total.unpricedCalls, 'call')} without a price`;
  const sum = `${total.usd === undefined ? 'No price is known' : `US$ ${total.usd}`} for ${countText(total.calls, 'call')} from ${since} to ${until}${unpriced}.`;
  io.stdout.write(`${table}\n\n${visibleText(sum)}\n`);
  if (hasMore) io.stderr.write('There are more lines: raise --limit.\n');
  if (countedSince !== undefined)
    io.stderr.write(`Days before ${visibleText(countedSince)} were not counted: ask for fewer days.\n`);
}

const SUMS: readonly Column<CostSums>[] = [
  { title: 'CALLS', value: ({ calls }) => String(calls), align: 'right' },
  { title: 'INPUT', value: ({ tokens }) => String(tokens.input), align: 'right' },
  { title: 'OUTPUT', value: ({ tokens }) => String(tokens.output), align: 'right' },
  { title: 'US$', value: ({ usd }) => usd ?? 'unknown', align: 'right' },
  { title: 'UNPRICED', value: ({ unpricedCalls }) => String(unpricedCalls), align: 'right' },
];
