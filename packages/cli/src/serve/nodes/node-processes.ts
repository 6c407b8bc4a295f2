import type { Log } from '@weft/engine';
import { visibleText } from '../../output/terminal-text.ts';
import { endSession, placeText } from './end-session.ts';
import { type Ended, type NodeProcess, startNodeProcess } from './node-process.ts';
import type { NodeSource, ServedNode, Share } from './process-messages.ts';
import { watchFolders } from '../../user-code/watch-folders.ts';

/**
 * The processes that serve code of users next to a host. One serves every type; a type that has made a process stand still, or that
 * had tasks when a process died, gets one of its own, so that it harms no other type again.
 *
 *   starting ──serving──► serving ──its end──► starting, after a pause that grows while it ends soon
 *                            └──newer code serves──► draining ──► ended
 *
 * M-1. A process that ends unasked has its session closed at once: its tasks are performed again under the same invocation ids, and
 *      no attempt is used up.
 * M-2. The task that made a process stand still fails with `node_unresponsive`, which names its file and line.
 * M-3. After a change of the code, tasks that are running finish on the old code; code that cannot be loaded replaces nothing.
 */
export interface NodeProcesses {
  /** What they serve; rejects when the code cannot be loaded. */
  readonly ready: Promise<readonly ServedNode[]>;
  stop(): Promise<void>;
}

export interface NodeProcessesOptions {
  readonly source: NodeSource;
  readonly cwd: string;
  readonly url: string;
  readonly key: string;
  readonly dev: boolean;
  readonly concurrency: number;
  readonly heapMb: number;
  /** A main thread that does nothing else for so long stands still. */
  readonly stuckMs: number;
  readonly log: Log;
}

/** More processes than this are not started; other types stay together. */
const MOST_ALONE = 16;
const SOON_MS = 5_000;
const LONGEST_PAUSE_MS = 30_000;
const STOP_GRACE_MS = 600;
/** After a change of the code, what is running has time. */
const RELOAD_GRACE_MS = 600_000;
/** The watchdog inside ends a process earlier than this. */
const MORE_SILENCE_MS = 10_000;

export function startNodeProcesses(options: NodeProcessesOptions): NodeProcesses {
  const { log, dev, source } = options;
  const label = source.kind === 'folders' ? 'nodes' : 'packs';
  const alone = new Set<string>();
  const all = new Set<NodeProcess>();
  /** Those with the newest code, by the type that they serve alone; '' for the one that serves the others. */
  let current = new Map<string, NodeProcess>();
  let next: Map<string, NodeProcess> | undefined;
  let spare: NodeProcess | undefined;
  let firstServed: (nodes: readonly ServedNode[]) => void = () => undefined;
  let isStopping = false;

  function launch(): NodeProcess {
    const child = startNodeProcess({
      heapMb: options.heapMb,
      silenceMs: options.stuckMs + MORE_SILENCE_MS,
      onLine: (stream, line) =>
        log(stream === 'stdout' ? 'info' : 'warn', { process: child.pid }, `${label}: ${visibleText(line)}`),
      onLoaded({ warnings, files }) {
        for (const warning of warnings) log('warn', {}, `${label}: ${visibleText(warning)}`);
        watching?.follow(files);
      },
    });
    all.add(child);
    void child.ended.then(() => {
      all.delete(child);
      if (spare === child) spare = undefined;
    });
    return child;
  }

  function start(role: string): NodeProcess {
    const child = spare ?? launch();
    spare = undefined;
    const share: Share = role === '' ? { except: [...alone] } : { only: role };
    const { url, key, cwd, concurrency, stuckMs } = options;
    const graceMs = dev ? RELOAD_GRACE_MS : STOP_GRACE_MS;
    child.begin({ kind: 'serve', url, key, source, cwd, concurrency, dev, share, stuckMs, graceMs });
    child.ready.then(
      (nodes) => log('info', { process: child.pid }, `${label}: serving ${visibleText(namesOf(nodes))}`),
      () => undefined,
    );
    return child;
  }

  /** The next change of the code finds a process that has started already. */
  function prepareSpare(): void {
    if (dev && !isStopping) spare ??= launch();
  }

  /** Keeps a role served until its process is replaced by one with newer code. */
  function keep(role: string, child: NodeProcess, failures = 0): void {
    current.set(role, child);
    const startedAt = performance.now();
    void child.ended.then(async (ended) => {
      if (isStopping || current.get(role) !== child) return;
      await settle(role, ended);
      const isSoon = performance.now() - startedAt < SOON_MS;
      const pauseMs = isSoon ? Math.min(100 * 2 ** failures, LONGEST_PAUSE_MS) : 0;
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      if (isStopping || current.get(role) !== child) return;
      keep(role, start(role), isSoon ? failures + 1 : 0);
    });
  }

  /** Closes its session, and decides which types are suspect. */
  async function settle(role: string, { how, standstill, busy, workerId }: Ended): Promise<void> {
    const stuck = standstill?.task?.typeId;
    const what =
      standstill === undefined ? `has ended (${how})` : `stood still${placeText(standstill)}, and was ended`;
    log(
      'error',
      { types: [...busy] },
      `${label}: a process with code of yours ${what}; its tasks are performed again`,
    );
    if (workerId !== undefined)
      await endSession(options, workerId, standstill).catch((error: unknown) => closeFailed(error));
    if (role !== '') return;
    for (const typeId of stuck === undefined ? busy : [stuck]) {
      if (alone.has(typeId) || alone.size >= MOST_ALONE) continue;
      alone.add(typeId);
      log('warn', { typeId }, `${label}: ${visibleText(typeId)} runs in a process of its own from now on`);
      keep(typeId, start(typeId));
    }
  }

  function closeFailed(error: unknown): void {
    log('warn', {}, `${label}: its session was not closed, and ends with its lease: ${String(error)}`);
  }

  /** Everything again, with the code as it is now; the old processes drain when it serves. */
  async function reload(): Promise<void> {
    for (const child of next?.values() ?? []) child.kill();
    const began = performance.now();
    const before = [...alone];
    alone.clear();
    const child = start('');
    const mine = new Map([['', child]]);
    next = mine;
    try {
      const nodes = await child.ready;
      if (next !== mine || isStopping) return;
      const old = current;
      current = new Map();
      next = undefined;
      keep('', child);
      firstServed(nodes);
      for (const each of old.values()) each.drain();
      const ms = Math.round(performance.now() - began);
      log('info', { ms }, `${label}: reloaded ${visibleText(namesOf(nodes))}`);
    } catch (error) {
      if (next !== mine) return;
      next = undefined;
      for (const typeId of before) alone.add(typeId);
      child.kill();
      log('error', {}, `${label}: not reloaded; the code before stays.\n${visibleLines(messageOf(error))}`);
    } finally {
      prepareSpare();
    }
  }

  const watching =
    dev && source.kind === 'folders'
      ? watchFolders(
          source.folders,
          () => void reload(),
          (error) => log('error', {}, `${label}: changes of files are not seen any more: ${error.message}`),
        )
      : undefined;
  const first = start('');
  keep('', first);
  const ready = new Promise<readonly ServedNode[]>((resolve, reject) => {
    firstServed = resolve;
    first.ready.then(resolve, (error: Error) => {
      // Newer code may have taken its place before it served.
      if (current.get('') === first) reject(error);
    });
  });
  ready.finally(prepareSpare).catch(() => undefined);

  return {
    ready,
    async stop() {
      isStopping = true;
      watching?.close();
      const children = [...all];
      for (const child of children) child.drain();
      const impatience = setTimeout(() => {
        for (const child of all) child.kill();
      }, STOP_GRACE_MS * 2);
      await Promise.all(children.map(({ ended }) => ended));
      clearTimeout(impatience);
    },
  };
}

export function namesOf(nodes: readonly ServedNode[]): string {
  return nodes.length === 0
    ? 'nothing'
    : nodes.map(({ typeId, version }) => `${typeId}@${version}`).join(', ');
}

export function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
