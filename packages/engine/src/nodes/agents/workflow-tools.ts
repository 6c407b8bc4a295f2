import { type EffectContext, NodeFailure } from '../../model/node-type.ts';
import type { ListedTool } from './agent-history.ts';

/** A workflow as a tool: its variables are what it takes, as they are now. Throws NodeFailure `tool_unknown` where there is none. */
export async function listedWorkflow(workflowId: string, context: EffectContext): Promise<ListedTool> {
  const known = await context.workflows.describe(workflowId);
  if (known === undefined) {
    const message = `No workflow "${workflowId}" is registered, so it cannot be a tool of the agent.`;
    throw new NodeFailure('tool_unknown', message, { details: { workflowId } });
  }
  const { description, inputSchema, digest } = known;
  return {
    source: 'workflow',
    server: '',
    name: workflowId,
    description,
    inputSchema,
    digest,
    isReadOnly: false,
    isIdempotent: false,
    isDestructive: false,
  };
}
