import { resolve } from 'node:path';
import type { Caller, Host, Log } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { unusable } from '../../exit-code.ts';
import type { ServeSettings } from '../settings/settings.ts';
import type { TenantFolder } from '../../packs/tenant-folders.ts';
import { type NodeProcesses, startNodeProcesses, visibleLines } from './node-processes.ts';
import { makeNodesKey, type NodesKey } from './nodes-key.ts';
import type { NodeSource, ServedNode } from './process-messages.ts';

/** What `--nodes` and `--packs` add to a host: processes with a key of their own. */
export interface HostNodes {
  /** Where the host listens now. Code that cannot be loaded ends the start, in development it is waited for. */
  start(url: string): Promise<readonly ServedNode[]>;
  stop(): Promise<void>;
}

export interface NodesPlace {
  readonly cwd: string;
  /** Folders of packs that have code. */
  readonly packs: readonly TenantFolder[];
  readonly log: Log;
}

/** All that needs the store, before the host listens: from then on, a store that is away for a moment ends no start. */
export async function prepareHostNodes(
  host: Host,
  caller: Caller,
  settings: ServeSettings,
  { cwd, packs, log }: NodesPlace,
): Promise<HostNodes> {
  const keys = new Map<string, NodesKey>();
  for (const tenant of tenantsOf(caller, settings, packs)) {
    const isShared = settings.store !== undefined;
    keys.set(tenant, await makeNodesKey(host, { ...caller, tenant }, { isShared }));
  }
  let groups: { readonly source: NodeSource; readonly processes: NodeProcesses }[] = [];
  return {
    async start(url) {
      groups = sourcesOf(host, caller, settings, { cwd, packs }).map(({ tenant, source }) => {
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
      return await servedBy(groups, settings, log);
    },
    async stop() {
      await Promise.all(groups.map(({ processes }) => processes.stop()));
      for (const { revoke } of keys.values())
        await revoke().catch(() => log('warn', {}, 'a key was not revoked'));
    },
  };
}

async function servedBy(
  groups: readonly { readonly source: NodeSource; readonly processes: NodeProcesses }[],
  settings: ServeSettings,
  log: Log,
): Promise<readonly ServedNode[]> {
  const served: ServedNode[] = [];
  for (const { source, processes } of groups) {
    try {
      served.push(...(await processes.ready));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!settings.dev || source.kind === 'packs') {
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
  return served;
}

function tenantsOf(
  { tenant }: Caller,
  { nodes }: ServeSettings,
  packs: readonly TenantFolder[],
): ReadonlySet<string> {
  return new Set([...(nodes.length > 0 ? [tenant] : []), ...packs.map((folder) => folder.tenant)]);
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
