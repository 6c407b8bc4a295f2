import { resolve } from 'node:path';
import { pathOf } from '@weft/protocol/plain';
import type { EventDifferenceDocument } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf } from '../parsing/command.ts';
import { EXIT, type ExitCode, usageError } from '../exit-code.ts';
import { collectReport } from '../output/diff/collect-report.ts';
import { type OpenSide, compare, inOneForm, openSides } from '../output/diff/compare.ts';
import { isBundle } from '../output/diff/bundle-side.ts';
import { renderDiffHtml } from '../output/diff/html-view.ts';
import { readDiff } from '../output/diff/read-diff.ts';
import { type DiffReport, isDifferent } from '../output/diff/report.ts';
import { renderDiffText } from '../output/diff/text-view.ts';
import { countText } from '../output/count-text.ts';

const SHOWN = 50;
const SHOWN_ON_PAGE = 1_000;
const DEFAULT_COLUMNS = 100;

export const diff = leaf({
  name: 'diff',
  summary: 'Show how two runs differ, event by event',
  examples: [
    'weft diff RUN OTHER',
    'weft diff RUN OTHER --first',
    `weft diff RUN http://other:7878${pathOf('getRun', { runId: 'ID' })} --html diff.html`,
    'weft diff ./theirs.bundle.json ./ours.bundle.json',
    'weft diff RUN OTHER --json --exit-code',
  ],
  args: {
    a: {
      type: 'positional',
      description:
        'Run id, its first characters, @last, URL of a run (key of another host: WEFT_API_KEY_A), or bundle file',
      required: true,
    },
    b: {
      type: 'positional',
      description: 'The same (key of another host: WEFT_API_KEY_B)',
      required: true,
    },
    first: { type: 'boolean', description: 'Stop at the first difference' },
    all: { type: 'boolean', description: `Show every difference instead of the first ${SHOWN}` },
    align: {
      type: 'enum',
      options: ['node'],
      description: 'Add a view that pairs events by node, type and occurrence',
    },
    html: { type: 'string', valueHint: 'FILE', description: 'Write the views into one HTML file' },
    'exit-code': { type: 'boolean', description: 'Exit with 1 when the runs differ' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const asked = readRequest(cli, args);
    const opened = await openSides(cli.io, args, [
      { label: args.a, keyVariable: 'WEFT_API_KEY_A' },
      { label: args.b, keyVariable: 'WEFT_API_KEY_B' },
    ]);
    const [a, b] = await inOneForm(...opened);
    if (!cli.json) warnOfMasks(cli, a, b);
    const isFound = await deliver(cli, a, b, asked);
    const code: ExitCode = isFound && args['exit-code'] === true ? EXIT.failed : EXIT.done;
    return code;
  },
});

/** Two values behind masks look the same, which is no proof. */
function warnOfMasks({ io }: Cli, ...sides: readonly OpenSide[]): void {
  const masked = sides.reduce((count, side) => count + (isBundle(side) ? side.masked : 0), 0);
  if (masked === 0) return;
  io.stderr.write(
    `The runs are compared as bundles with ${countText(masked, 'masked value')}; differences between masked values are not shown.\n`,
  );
}

interface Request {
  readonly isFirst: boolean;
  readonly isAll: boolean;
  readonly isAligned: boolean;
  readonly html: string | undefined;
}

interface DiffArgs {
  readonly first?: boolean | undefined;
  readonly all?: boolean | undefined;
  readonly align?: string | undefined;
  readonly html?: string | undefined;
}

function readRequest(cli: Cli, args: DiffArgs): Request {
  const [isFirst, isAll, isAligned] = [args.first === true, args.all === true, args.align !== undefined];
  if (isFirst && isAll) throw usageError('--first stops at the first difference; remove --all.');
  if (cli.json && isAligned)
    throw usageError('--align node is a view for people and has no JSON form; remove --json.');
  return {
    isFirst,
    isAll,
    isAligned,
    html: args.html === undefined ? undefined : resolve(cli.io.cwd, args.html),
  };
}

/** Writes what was asked for; true when the runs differ. */
async function deliver(cli: Cli, a: OpenSide, b: OpenSide, asked: Request): Promise<boolean> {
  const pieces = await compare(a, b);
  const isDocument = cli.json && !asked.isFirst;
  const reader = readDiff(isDocument ? printing(cli, pieces) : pieces);
  const report = await collectReport(reader, a, b, { ...asked, limit: limitOf(asked) });
  if (asked.html !== undefined) {
    const { writeText } = await import('./evidence/deliver.ts');
    writeText(asked.html, renderDiffHtml(report));
  }
  if (cli.json && asked.isFirst) cli.io.stdout.write(`${firstAsJson(report.first)}\n`);
  if (!cli.json)
    cli.io.stdout.write(
      `${renderDiffText(cli.style, cut(report, asked), cli.io.columns ?? DEFAULT_COLUMNS)}\n`,
    );
  return isDifferent(report);
}

/** The document as it came, to the byte; a line break only where a person looks at it. */
async function* printing(cli: Cli, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    cli.io.stdout.document(piece);
    yield piece;
  }
  if (cli.io.isTTY) cli.io.stdout.write('\n');
}

function firstAsJson(first: EventDifferenceDocument | undefined): string {
  return JSON.stringify({
    divergedAtSeq: first?.seq ?? null,
    ...(first !== undefined && { difference: first }),
  });
}

function limitOf({ isAll, html }: Request): number {
  if (isAll) return Number.POSITIVE_INFINITY;
  return html === undefined ? SHOWN : SHOWN_ON_PAGE;
}

/** The page takes more than the terminal. */
function cut(report: DiffReport, { isAll }: Request): DiffReport {
  if (isAll) return report;
  const { aligned: view } = report;
  return {
    ...report,
    differences: report.differences.slice(0, SHOWN),
    aligned: view === undefined ? undefined : { ...view, pairs: view.pairs.slice(0, SHOWN) },
  };
}
