import { endpointOf, type WorkflowDefinition } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type {
  PageRequest,
  WaitingWorkflow,
  WorkflowRegistration,
  WorkflowReport,
  WorkflowSummary,
} from '../documents.ts';
import { type ListPromise, type PagePromise, pagedList, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export interface Workflows {
  /** The current version, or the one that is named (Weft's own). */
  get(workflowId: string, version?: string): ApiPromise<WorkflowDefinition>;
  list(page?: PageRequest): PagePromise<WorkflowSummary>;
  /** Definitions that the process which answers holds until their node types are known. */
  waiting(): ListPromise<WaitingWorkflow>;
  /** The same content again is fine; other content under a known version is refused. */
  register(definition: unknown): ApiPromise<WorkflowRegistration>;
  /** Every problem at once; writes nothing. */
  check(definition: unknown): ApiPromise<WorkflowReport>;
}

export function createWorkflows(transport: Transport): Workflows {
  return {
    get: (workflowId, version) =>
      version === undefined
        ? transport.json(endpointOf('getWorkflow', { workflowId }))
        : transport.json(endpointOf('getWorkflowVersion', { workflowId }), { query: { version } }),
    list: (page) => pagedList(transport, endpointOf('listWorkflows'), 'workflows', { ...page }),
    waiting: () => wholeList(transport, endpointOf('listWorkflows'), 'waiting', { limit: 1 }),
    register: (definition) => transport.json(endpointOf('registerWorkflow'), { body: definition }),
    check: (definition) => transport.json(endpointOf('checkWorkflow'), { body: definition }),
  };
}
