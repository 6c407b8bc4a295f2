import { resolve } from 'node:path';
import type { Caller, Host, Log } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { unusable } from '../../exit-code.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { startNodeProcesses, visibleLines } from './node-processes.ts';
import { makeNodesKey } from './nodes-key.ts';
import type { NodeSource, ServedNode } from './process-messages.ts';

/** What `--nodes` and `--packs` add to a host. */
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
  const sources = sourcesOf(host, caller, settings, cwd);
  if (sources.length === 0) return NONE;
  const { key, revoke } = await makeNodesKey(host, caller, { isShared: settings.store !== undefined });
  const groups = sources.map((source) => {
    const processes = startNodeProcesses({
      source,
      cwd,
      url,
      key,
      dev: settings.dev && source.kind === 'folders',
      concurrency: settings.nodesConcurrency,
      heapMb: settings.nodesHeapMb,
      stuckMs: settings.nodesStuckMs,
      log,
    });
    return { source, processes };
  });
  const stop = async () => {
    await Promise.all(groups.map(({ processes }) => processes.stop()));
    await revoke();
  };
  const served: ServedNode[] = [];
  for (const { source, processes } of groups) {
    try {
      served.push(...(await processes.ready));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!settings.dev || source.kind === 'packs') {
        await stop();
        const flag = source.kind === 'packs' ? 'packs' : 'nodes';
        throw unusable(
          `${flag}_unusable`,
          `The node types of --${flag} cannot be served.\n${message}`,
          error,
        );
      }
      log('error', {}, `nodes: not loaded; save a file to try again.\n${visibleLines(message)}`);
    }
  }
  return { served, stop };
}

function sourcesOf(host: Host, { tenant }: Caller, settings: ServeSettings, cwd: string): NodeSource[] {
  const { nodes, packs, allowEgress } = settings;
  const folders = nodes.map((folder) => resolve(cwd, folder));
  return [
    ...(folders.length === 0 ? [] : [{ kind: 'folders', folders } as const]),
    ...(packs === undefined
      ? []
      : [
          {
            kind: 'packs',
            folder: resolve(cwd, packs),
            tenant,
            capabilities: discovery(host),
            allowEgress,
          } as const,
        ]),
  ];
}

/** As it is sent to clients. */
function discovery(host: Host): JsonObject {
  return JSON.parse(JSON.stringify(host.capabilities())) as JsonObject;
}
