import { basename } from 'node:path';
import { shellCommand } from '../output/shell-command.ts';
import type { Style } from '../output/style.ts';
import { renderFields } from '../output/table.ts';
import type { BuiltInFixtures } from './workflows/fixtures.ts';
import { namesOf } from './nodes/node-processes.ts';
import type { ServedNode } from './nodes/process-messages.ts';
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
  /** The link that opens the web page; absent where it is not served. */
  readonly studio?: string;
  readonly test: boolean;
  readonly allowEgress: readonly string[];
  readonly files: readonly LoadedFile[];
  /** Node types of --nodes. */
  readonly nodes: readonly ServedNode[];
  /** Workflows in the store, however they came there: other processes may share it. */
  readonly registered: number;
  /** Absent on a live host. */
  readonly fixtures?: BuiltInFixtures;
}

const SHOWN_PROBLEMS = 20;

/** What a person sees when the host is up: where it is, what it has, and what to try. */
export function renderBanner(style: Style, started: Started): string {
  const workflows = started.files.flatMap((file) => ('id' in file ? [`${file.id}@${file.version}`] : []));
  const waiting = started.files.flatMap((file) =>
    'waitingFor' in file ? [`${basename(file.file)}: waiting for ${typesText(file.waitingFor)}`] : [],
  );
  const problems = [
    ...started.files.flatMap((file) =>
      'problems' in file ? file.problems : 'warnings' in file ? file.warnings : [],
    ),
    ...(started.fixtures?.problems ?? []),
  ];
  const lines = [
    `${style.bold('weft')} is listening at ${style.cyan(started.url)}`,
    ...(started.studio === undefined ? [] : [studioLine(style, started.studio)]),
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
      ['nodes', started.nodes.length === 0 ? undefined : namesOf(started.nodes)],
      ['fixtures', started.fixtures && `${started.fixtures.registered} built in, for conformance suites`],
    ]),
  ];
  if (waiting.length > 0)
    lines.push('', ...listed(style, 'Registered when a worker serves their node types:', waiting));
  if (problems.length > 0) lines.push('', ...listed(style, 'Not loaded, or with warnings:', problems));
  lines.push(
    '',
    'Try:',
    ...tryLines(started, workflows).map((line) => `  ${line}`),
    '',
    style.dim('Ctrl-C stops it; nothing is lost.'),
  );
  return lines.join('\n');
}

function studioLine(style: Style, link: string): string {
  const note = link.includes('#code=') ? 'valid for a minute, once; later: ' : 'sign in: ';
  return `Open ${style.cyan(link)} ${style.dim(`(${note}${shellCommand('open', [])})`)}`;
}

function workflowsText(workflows: readonly string[], registered: number): string {
  if (workflows.length === 0 && registered > 0) return `${registered} registered, none loaded here`;
  if (workflows.length === 0)
    return `none; add some with --workflows DIR or: ${shellCommand('workflows register', ['FILE'])}`;
  const loaded = workflows.length <= 8 ? workflows.join(', ') : `${workflows.length} loaded`;
  return registered > workflows.length ? `${loaded}; ${registered} registered in all` : loaded;
}

function typesText(types: readonly string[]): string {
  return `${types.length === 1 ? 'type' : 'types'} ${types.join(', ')}`;
}

function listed(style: Style, title: string, problems: readonly string[]): string[] {
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map((problem) => `  ${style.yellow('!')} ${visibleText(problem)}`);
  const more = problems.length - shown.length;
  return [title, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function tryLines({ test }: Started, workflows: readonly string[]): readonly string[] {
  const ids = workflows.map((name) => name.slice(0, name.lastIndexOf('@')));
  const id =
    ids.find((name) => name === 'order-fulfilment') ?? ids[0] ?? (test ? 'conformance-noop' : undefined);
  return [
    id === undefined ? shellCommand('workflows register', ['FILE']) : shellCommand('run', [id], '--watch'),
    shellCommand('runs ls', []),
    shellCommand('doctor', []),
  ];
}
