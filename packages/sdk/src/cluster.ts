import type { ClusterNodeDocument } from '@weft/protocol';
import type { Transport } from './transport.ts';

export type ClusterNode = ClusterNodeDocument;

const NODES = '/v1/host/weft/cluster/nodes';

/** For administrators: the processes that share a store. */
export interface Cluster {
  nodes(): Promise<readonly ClusterNode[]>;
  /** Asks a process to hold no runs any more; the list of nodes shows when it is drained. */
  drain(node: string): Promise<ClusterNode>;
}

export function createCluster(transport: Transport): Cluster {
  return {
    nodes: async () => (await transport.json<{ nodes: ClusterNode[] }>('GET', NODES)).nodes,
    drain: (node) => transport.json('POST', `${NODES}/${encodeURIComponent(node)}:drain`),
  };
}
