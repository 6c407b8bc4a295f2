import { type ClusterNodeDocument, endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export type ClusterNode = ClusterNodeDocument;

/** For administrators: the processes that share a store. */
export interface Cluster {
  nodes(): ListPromise<ClusterNode>;
  /** Asks a process to hold no runs any more; the list of nodes shows when it is drained. */
  drain(node: string): ApiPromise<ClusterNode>;
}

export function createCluster(transport: Transport): Cluster {
  return {
    nodes: () => wholeList(transport, endpointOf('listNodes'), 'nodes'),
    drain: (node) => transport.json(endpointOf('drainNode', { node })),
  };
}
