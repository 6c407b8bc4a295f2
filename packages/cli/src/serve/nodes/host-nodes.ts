import { resolve } from 'node:path';
import type { Caller, Host, Log } from '@weft/engine';
import { unusable } from '../../exit-code.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { startNodeProcesses, visibleLines } from './node-processes.ts';
import { makeNodesKey } from './nodes-key.ts';
import type { ServedNode } from './process-messages.ts';

/** What `--nodes` adds to a host. */
export interface HostNodes {
  readonly served: readonly ServedNode[];
  stop(): Promise<void>;
}

const NONE: HostNodes = { served: [], stop: () => Promise.resolve() };

/** Starts the processes with a key of their own. Code that cannot be loaded ends the start, in development it is waited for. */
export async function startHostNodes(
  host: Host,
  caller: Caller,
  settings: ServeSettings,
  { url, cwd, log }: { readonly url: string; readonly cwd: string; readonly log: Log },
): Promise<HostNodes> {
  if (settings.nodes.length === 0) return NONE;
  const { key, revoke } = await makeNodesKey(host, caller, { isShared: settings.store !== undefined });
  const processes = startNodeProcesses({
    folders: settings.nodes.map((folder) => resolve(cwd, folder)),
    cwd,
    url,
    key,
    dev: settings.dev,
    concurrency: settings.nodesConcurrency,
    heapMb: settings.nodesHeapMb,
    stuckMs: settings.nodesStuckMs,
    log,
  });
  const stop = async () => {
    await processes.stop();
    await revoke();
  };
  try {
    return { served: await processes.ready, stop };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!settings.dev) {
      await stop();
      throw unusable('nodes_unusable', `The node types of --nodes cannot be served.\n${message}`, error);
    }
    log('error', {}, `nodes: not loaded; save a file to try again.\n${visibleLines(message)}`);
    return { served: [], stop };
  }
}
