import type { WorkflowDefinition } from '@weft/protocol';
import { endpointOf } from '@weft/protocol/plain';
import type { Listing, WorkflowRegistration, WorkflowReport, WorkflowSummary } from './documents.ts';
import type { Transport } from './transport.ts';

export interface Workflows {
  /** The current version, or the one that is named (Weft's own). */
  get(workflowId: string, version?: string): Promise<WorkflowDefinition>;
  list(page?: { limit?: number; cursor?: string }): Promise<Listing<WorkflowSummary>>;
  /** The same content again is fine; other content under a known version is refused. */
  register(definition: unknown): Promise<WorkflowRegistration>;
  /** Every problem at once; writes nothing. */
  check(definition: unknown): Promise<WorkflowReport>;
}

export function createWorkflows(transport: Transport): Workflows {
  return {
    get: (workflowId, version) =>
      version === undefined
        ? transport.json(endpointOf('getWorkflow', { workflowId }))
        : transport.json(endpointOf('getWorkflowVersion', { workflowId }), { query: { version } }),
    list: async (page = {}) => {
      const { workflows, ...rest } = await transport.json<{
        workflows: WorkflowSummary[];
        nextCursor?: string;
      }>(endpointOf('listWorkflows'), { query: page });
      return { items: workflows, ...rest };
    },
    register: (definition) => transport.json(endpointOf('registerWorkflow'), { body: definition }),
    check: (definition) => transport.json(endpointOf('checkWorkflow'), { body: definition }),
  };
}
