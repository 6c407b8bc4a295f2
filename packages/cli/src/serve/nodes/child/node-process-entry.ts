/** A process for code of users next to a host (node-process.ts): a worker like any other, watched. */
import { Worker } from 'node:worker_threads';
import { type NodeWorker, serveNodes } from '@weft/sdk/worker';
import { createLeanFetch } from '../../../connecting/lean-fetch.ts';
import type { LoadedNodes } from '../../../packs/pack-nodes.ts';
import { loadNodeFolders } from '../../../user-code/node-folders.ts';
import type {
  Assignment,
  FromNodeProcess,
  NodeSource,
  ServedNode,
  Share,
  ToNodeProcess,
} from '../process-messages.ts';
import { followTypes } from './busy-types.ts';
import { followTasks } from './current-task.ts';
import type { WatchdogData } from './watchdog-thread.ts';

const PIPE = 4;
const BEAT_MS = 100;
const ALIVE_MS = 1_000;

let worker: NodeWorker | undefined;

function tell(message: FromNodeProcess): void {
  process.send?.(message);
}

function watchMainThread(stuckMs: number): void {
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const data: WatchdogData = { counter, stuckMs, pipe: PIPE };
  setInterval(() => Atomics.add(counter, 0, 1), BEAT_MS).unref();
  setInterval(() => tell({ kind: 'alive' }), ALIVE_MS).unref();
  new Worker(new URL('./watchdog-thread.js', import.meta.url), { workerData: data }).unref();
}

function isOfShare({ only, except }: Share, typeId: string): boolean {
  return only === undefined ? !except.includes(typeId) : only === typeId;
}

/** Each source is loaded by a module of its own: neither needs what the other does. */
async function loadNodes(source: NodeSource, cwd: string): Promise<LoadedNodes> {
  if (source.kind === 'folders') return loadNodeFolders(source.folders, cwd);
  const { loadPackNodes } = await import('../../../packs/pack-nodes.ts');
  return loadPackNodes(source);
}

async function serve(assignment: Assignment): Promise<void> {
  const { url, key, source, cwd, share, concurrency, dev, graceMs } = assignment;
  const around = followTypes(followTasks(), (types) => tell({ kind: 'busy', types }));
  watchMainThread(assignment.stuckMs);
  const { nodes: all, warnings, files, documentOf } = await loadNodes(source, cwd);
  const nodes = all.filter(({ definition }) => isOfShare(share, definition.typeId));
  const served = nodes.map(
    ({ definition: { typeId, version }, file }): ServedNode => ({ typeId, version, file }),
  );
  tell({ kind: 'loaded', nodes: served, warnings: share.only === undefined ? warnings : [], files });
  if (nodes.length === 0) return;
  const flag = source.kind === 'packs' ? 'serve --packs' : 'serve --nodes';
  worker = serveNodes(
    nodes.map(({ definition }) => definition),
    {
      url,
      apiKey: key,
      fetch: createLeanFetch(),
      concurrency,
      dev,
      graceMs,
      around,
      documentOf,
      name: share.only === undefined ? flag : `${flag} (${share.only})`,
      log(level, message) {
        if (level === 'warn' || level === 'error') process.stderr.write(`${message}\n`);
      },
      onConnected: ({ workerId, types }) =>
        tell({
          kind: 'serving',
          workerId,
          nodes: types.map(({ typeId, version }) => ({
            typeId,
            version,
            file: served.find((node) => node.typeId === typeId)?.file ?? '',
          })),
        }),
    },
  );
  await worker.ended;
}

async function leave(): Promise<void> {
  await worker?.stop().catch(() => undefined);
  process.exit(0);
}

process.on('message', (message: ToNodeProcess) => {
  if (message.kind === 'drain') {
    void leave();
    return;
  }
  serve(message).catch((error: unknown) => {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
// What an assignment needs first, while there is none yet.
void import('esbuild').catch(() => undefined);
// The host is gone, however it ended.
process.on('disconnect', () => process.exit(1));
// Ctrl-C at a terminal reaches every process; the host decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => void leave());
process.on('unhandledRejection', (error) => {
  process.stderr.write(
    `unhandled rejection in a node: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
});
