import type { Style } from '../output/style.ts';
import { renderFields } from '../output/table.ts';
import type { BuiltInFixtures } from './workflows/fixtures.ts';
import type { LoadedFile } from './workflows/workflow-files.ts';
import { visibleText } from '../output/terminal-text.ts';

export interface Started {
  readonly url: string;
  readonly pid: number;
  /** Absent where gRPC is not served. */
  readonly grpc?: string;
  /** Absent when everything comes from elsewhere. */
  readonly dataFolder?: string;
  /** The database, where it is not in the data folder; without its password. */
  readonly store?: string;
  /** Where the key is: a file, or the variable it came from. */
  readonly keyFrom: string;
  readonly test: boolean;
  readonly allowEgress: readonly string[];
  readonly files: readonly LoadedFile[];
  /** Workflows in the store, however they came there: other processes may share it. */
  readonly registered: number;
  /** Absent on a live host. */
  readonly fixtures?: BuiltInFixtures;
  /** How the command line is called here. */
  readonly command: string;
}

const SHOWN_PROBLEMS = 20;

/** What a person sees when the host is up: where it is, what it has, and what to try. */
export function renderBanner(style: Style, started: Started): string {
  const workflows = started.files.flatMap((file) => ('id' in file ? [`${file.id}@${file.version}`] : []));
  const problems = [
    ...started.files.flatMap((file) => ('problems' in file ? file.problems : file.warnings)),
    ...(started.fixtures?.problems ?? []),
  ];
  const lines = [
    `${style.bold('weft')} is listening at ${style.cyan(started.url)}`,
    '',
    renderFields(style, [
      ['pid', String(started.pid)],
      ['grpc', started.grpc],
      ['store', started.store],
      ['data', started.dataFolder],
      ['key', started.keyFrom],
      ['mode', started.test ? 'test (conformance)' : 'live'],
      [
        'egress',
        started.allowEgress.length === 0
          ? 'public addresses only'
          : `public addresses, and ${started.allowEgress.join(', ')}`,
      ],
      ['workflows', workflowsText(workflows, started.registered - (started.fixtures?.registered ?? 0))],
      ['fixtures', started.fixtures && `${started.fixtures.registered} built in, for conformance suites`],
    ]),
  ];
  if (problems.length > 0) lines.push('', ...problemLines(style, problems));
  lines.push(
    '',
    'Try:',
    ...tryLines(started, workflows).map((line) => `  ${line}`),
    '',
    style.dim('Ctrl-C stops it; nothing is lost.'),
  );
  return lines.join('\n');
}

function workflowsText(workflows: readonly string[], registered: number): string {
  if (workflows.length === 0 && registered > 0) return `${registered} registered, none loaded here`;
  if (workflows.length === 0) return 'none; add some with --workflows DIR or: weft workflows register FILE';
  const loaded = workflows.length <= 8 ? workflows.join(', ') : `${workflows.length} loaded`;
  return registered > workflows.length ? `${loaded}; ${registered} registered in all` : loaded;
}

function problemLines(style: Style, problems: readonly string[]): string[] {
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map((problem) => `  ${style.yellow('!')} ${visibleText(problem)}`);
  const more = problems.length - shown.length;
  return ['Not loaded, or with warnings:', ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function tryLines({ command, test }: Started, workflows: readonly string[]): readonly string[] {
  const ids = workflows.map((name) => name.slice(0, name.lastIndexOf('@')));
  const id =
    ids.find((name) => name === 'order-fulfilment') ?? ids[0] ?? (test ? 'conformance-noop' : undefined);
  return [
    id === undefined ? `${command} workflows register FILE` : `${command} run ${id} --watch`,
    `${command} runs ls`,
    `${command} doctor`,
  ];
}
