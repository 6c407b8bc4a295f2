import { type WorkflowDefinition, workflowInputSchema } from '@weft/protocol';
import type { Workflows } from '../../model/node-type.ts';
import type { Store } from '../../ports/store.ts';

export type DefinitionStore = Pick<Store, 'readWorkflow' | 'readDefinition'>;

export function openWorkflows(store: DefinitionStore, tenant: string): Workflows {
  return {
    async describe(workflowId) {
      const row = await store.readWorkflow(tenant, workflowId, undefined);
      const text = row && (await store.readDefinition(row.digest));
      if (row === undefined || text === undefined) return undefined;
      const { name, description, variables } = JSON.parse(text) as WorkflowDefinition;
      return {
        description: description ?? `Runs the workflow "${name}" and answers with its outputs.`,
        inputSchema: workflowInputSchema(variables),
        digest: row.digest,
      };
    },
  };
}
