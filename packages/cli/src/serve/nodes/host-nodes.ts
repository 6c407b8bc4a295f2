import { resolve } from 'node:path';
import type { Caller, Host, Log } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { unusable } from '../../exit-code.ts';
import type { ServeSettings } from '../settings/settings.ts';
import type { TenantFolder } from '../../packs/tenant-folders.ts';
import { startNodeProcesses, visibleLines } from './node-processes.ts';
import { makeNodesKey, type NodesKey } from './nodes-key.ts';
import type { NodeSource, ServedNode } from './process-messages.ts';

/** What `--nodes` and `--packs` add to a host. */
export interface HostNodes {
  readonly served: readonly ServedNode[];
  stop(): Promise<void>;
}

const NONE: HostNodes = { served: [], stop: () => Promise.resolve() };

export interface NodesPlace {
  readonly url: string;
  readonly cwd: string;
  /** Folders of packs that have code. */
  readonly packs: readonly TenantFolder[];
  readonly log: Log;
}

/** Starts the processes with a key of their own. Code that cannot be loaded ends the start, in development it is waited for. */
export async function startHostNodes(
  host: Host,
  caller: Caller,
  settings: ServeSettings,
  { url, cwd, packs, log }: NodesPlace,
): Promise<HostNodes> {
  const sources = sourcesOf(host, caller, settings, { cwd, packs });
  if (sources.length === 0) return NONE;
  const keys = new Map<string, NodesKey>();
  for (const { tenant } of sources) {
    const isShared = settings.store !== undefined;
    if (!keys.has(tenant)) keys.set(tenant, await makeNodesKey(host, { ...caller, tenant }, { isShared }));
  }
  const groups = sources.map(({ tenant, source }) => {
    const processes = startNodeProcesses({
      source,
      cwd,
      url,
      key: keys.get(tenant)?.key ?? '',
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
    for (const { revoke } of keys.values()) await revoke();
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

interface TenantSource {
  readonly tenant: string;
  readonly source: NodeSource;
}

function sourcesOf(
  host: Host,
  { tenant: own }: Caller,
  { nodes, allowEgress }: ServeSettings,
  { cwd, packs }: Pick<NodesPlace, 'cwd' | 'packs'>,
): TenantSource[] {
  const folders = nodes.map((folder) => resolve(cwd, folder));
  const ofFolders: TenantSource[] =
    folders.length === 0 ? [] : [{ tenant: own, source: { kind: 'folders', folders } }];
  const capabilities = discovery(host);
  const ofPacks = packs.map(
    ({ tenant, path: folder }): TenantSource => ({
      tenant,
      source: { kind: 'packs', folder, tenant, capabilities, allowEgress },
    }),
  );
  return [...ofFolders, ...ofPacks];
}

/** As it is sent to clients. */
function discovery(host: Host): JsonObject {
  return JSON.parse(JSON.stringify(host.capabilities())) as JsonObject;
}
