import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { WorkerLog } from '@weft/sdk/worker';
import { findTarget, type TargetArgs } from '../connecting/connection.ts';
import { createLeanFetch } from '../connecting/lean-fetch.ts';
import { readPrivateFile } from '../connecting/private-file.ts';
import { CliError, EXIT, unusable, usageError } from '../exit-code.ts';
import { shown } from '../output/terminal-text.ts';
import { type Cli, HOST_ARGS, leaf } from '../parsing/command.ts';
import type { FoundNode } from '../user-code/node-folders.ts';

const MOST_AT_ONCE = 1_000;

export const worker = leaf({
  name: 'worker',
  summary: 'Serve node types of your own to a host',
  examples: [
    'weft worker ./nodes',
    'weft worker ./nodes --url https://weft.example.org --key-file worker.key --concurrency 32',
  ],
  args: {
    folder: {
      type: 'positional',
      description: 'Folder with node types (*.ts, *.mts, *.js, *.mjs)',
      required: true,
    },
    ...HOST_ARGS,
    'key-file': {
      type: 'string',
      valueHint: 'FILE',
      description: 'Key with the scope workers:serve; default WEFT_API_KEY, then the key of the data folder',
    },
    concurrency: { type: 'string', valueHint: 'N', description: 'Tasks at the same time (default 32)' },
    name: {
      type: 'string',
      valueHint: 'NAME',
      description: 'What people see of it (default: name of the machine)',
    },
    grace: {
      type: 'string',
      valueHint: 'SECONDS',
      description: 'How long tasks may take to end after SIGTERM (default 10)',
    },
  },
  async run({ cli, args }) {
    const folder = resolve(cli.io.cwd, args.folder);
    const concurrency = whole('--concurrency', args.concurrency ?? '32', MOST_AT_ONCE);
    const graceMs = whole('--grace', args.grace ?? '10', 86_400) * 1_000;
    const { url, apiKey, fetch } = await reach(cli, args);
    // Other commands start without what code of users needs.
    const { loadNodeFolders } = await import('../user-code/node-folders.ts');
    const { nodes, warnings } = await loadNodeFolders([folder], cli.io.cwd);
    for (const warning of warnings) cli.io.stderr.write(shown`${warning}\n`);
    if (nodes.length === 0)
      throw new CliError(
        EXIT.failed,
        'no_node_types',
        `${args.folder} defines no node types; defineNode of @weft/sdk/nodes makes one.`,
      );
    announce(cli, nodes, url);
    const { serveNodes } = await import('@weft/sdk/worker');
    const serving = serveNodes(
      nodes.map(({ definition }) => definition),
      { url, apiKey, fetch, concurrency, graceMs, name: args.name ?? hostname(), log: logTo(cli) },
    );
    // What no task waits for is no reason to lose those that are running.
    const stray = (error: unknown) =>
      cli.io.stderr.write(shown`unhandled rejection in a node: ${stackOf(error)}\n`);
    process.on('unhandledRejection', stray);
    const off = stopOnSignal(cli, () => serving.stop());
    try {
      await serving.ended;
      // A function that does not heed its signal would keep the process.
      cli.io.exit(EXIT.done);
      return EXIT.done;
    } finally {
      off();
      process.off('unhandledRejection', stray);
    }
  },
});

interface Reached {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

async function reach(
  { io }: Cli,
  args: TargetArgs & { readonly 'key-file'?: string | undefined },
): Promise<Reached> {
  const target = await findTarget(io, args);
  const file = args['key-file'];
  if (file === undefined)
    return { url: target.url, apiKey: target.key, fetch: target.fetch ?? createLeanFetch() };
  const key = await readPrivateFile(resolve(io.cwd, file), 'key_file');
  if (key === undefined || key === '') throw unusable('key_file', `${file} is missing or empty.`);
  return { url: target.url, apiKey: key, fetch: createLeanFetch() };
}

function announce({ io, json }: Cli, nodes: readonly FoundNode[], url: string): void {
  const types = nodes.map(({ definition: { typeId, version }, file }) => ({ typeId, version, file }));
  if (json) {
    io.stdout.write(`${JSON.stringify({ url, types })}\n`);
    return;
  }
  io.stdout.write(shown`Serving to ${url}:\n`);
  for (const { typeId, version, file } of types) io.stdout.write(shown`  ${typeId} ${version}  ${file}\n`);
}

function logTo({ io }: Cli): WorkerLog {
  return (level, message) => {
    if (level !== 'debug') io.stderr.write(shown`${new Date().toISOString().slice(11, 19)} ${message}\n`);
  };
}

/** The first signal drains, the second one ends the process at once. */
function stopOnSignal({ io }: Cli, stop: () => Promise<void>): () => void {
  let isStopping = false;
  return io.onSignal((signal) => {
    if (isStopping) io.exit(EXIT.failed);
    isStopping = true;
    io.stderr.write(`${signal}: finishing tasks …\n`);
    stop().catch(() => undefined);
  });
}

function whole(flag: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max || (value === 0 && flag === '--concurrency'))
    throw usageError(`${flag} takes a whole number up to ${max}, not "${text}".`);
  return value;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
