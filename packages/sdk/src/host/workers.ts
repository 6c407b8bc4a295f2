import { endpointOf } from '@weft/protocol/plain';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** A worker that is connected to one of the processes of a host. */
export interface WorkerSummary {
  readonly workerId: string;
  readonly name: string;
  /** The process that it is connected to. */
  readonly node: string;
  readonly state: 'active' | 'draining' | 'disconnected';
  readonly connectedAt: string;
  /** Tasks at the same time. */
  readonly capacity: number;
  /** Tasks in hand. */
  readonly running: number;
  readonly types: readonly { readonly typeId: string; readonly version: string; readonly digest: string }[];
  readonly sdk?: string;
}

export interface Workers {
  /** Those of the tenant, on every process. */
  list(): ListPromise<WorkerSummary>;
}

export function createWorkers(transport: Transport): Workers {
  return { list: () => wholeList(transport, endpointOf('listWorkers'), 'workers') };
}
