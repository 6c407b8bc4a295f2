import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** An agent of an installed pack. */
export interface AgentEntry {
  readonly agentId: string;
  readonly persona: string;
  readonly label: string;
  readonly description?: string;
  /** The kind of model that it asks for. */
  readonly modelClass: string;
  readonly packName: string;
  readonly packVersion: string;
  /** Tools that it may be given, and no others. */
  readonly toolAllowlist: readonly string[];
  readonly hasHandoffSchemas: boolean;
  readonly memoryShape?: {
    readonly scratchpad?: boolean;
    readonly conversation?: boolean;
    readonly longTerm?: boolean;
  };
  readonly confidenceThreshold?: number;
  /** Capabilities that its pack can do without, and has to on this host. */
  readonly degraded?: readonly string[];
  /** The host does not give it all of the memory that `memoryShape` names. */
  readonly memoryDegraded?: boolean;
  readonly degradedMemoryDimensions?: readonly string[];
}

export interface Agents {
  /** Agents of installed packs, by id. */
  list(): ListPromise<AgentEntry>;
  get(agentId: string): ApiPromise<AgentEntry>;
}

export function createAgents(transport: Transport): Agents {
  return {
    list: () => wholeList(transport, endpointOf('listAgents'), 'agents', {}),
    get: (agentId) => transport.json(endpointOf('getAgent', { agentId })),
  };
}
