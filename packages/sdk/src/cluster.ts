import type { ClusterNodeDocument } from '@weft/protocol';
import { endpointOf } from '@weft/protocol/plain';
import type { Transport } from './transport.ts';

export type ClusterNode = ClusterNodeDocument;

/** For administrators: the processes that share a store. */
export interface Cluster {
  nodes(): Promise<readonly ClusterNode[]>;
  /** Asks a process to hold no runs any more; the list of nodes shows when it is drained. */
  drain(node: string): Promise<ClusterNode>;
}

export function createCluster(transport: Transport): Cluster {
  return {
    nodes: async () => (await transport.json<{ nodes: ClusterNode[] }>(endpointOf('listNodes'))).nodes,
    drain: (node) => transport.json(endpointOf('drainNode', { node })),
  };
}
