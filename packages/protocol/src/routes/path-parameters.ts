import type { TSchema } from 'typebox';
import { templateId } from '../documents/agents/prompts.ts';
import { name, nameOf, runId } from '../documents/schema-parts.ts';
import type { ENDPOINTS, NamesIn } from './endpoints.ts';

type PathName = NamesIn<(typeof ENDPOINTS)[keyof typeof ENDPOINTS]['path']>;

/** What stands in the braces of a path. */
export const PATH_PARAMETERS: Readonly<Record<PathName, { description: string; schema: TSchema }>> = {
  runId: { description: 'The run.', schema: runId },
  workflowId: { description: 'The workflow.', schema: nameOf({ minLength: 1, maxLength: 128 }) },
  nodeId: { description: 'The node that asks, with its iteration in brackets inside a loop.', schema: name },
  token: {
    description: 'From a signed link: a payload and its signature, in base64url, with a dot between them.',
    schema: nameOf({ minLength: 1, maxLength: 1024 }),
  },
  artifactId: { description: 'The artifact.', schema: name },
  webhookId: { description: 'The webhook.', schema: name },
  secretId: { description: 'The secret.', schema: name },
  keyId: { description: 'The key, by its id; never the key itself.', schema: name },
  deliveryId: { description: 'The delivery.', schema: name },
  scheduleName: { description: 'The schedule, by its name.', schema: name },
  triggerId: { description: 'The webhook trigger.', schema: name },
  letterId: { description: 'The dead letter.', schema: name },
  node: { description: 'The process, by its name.', schema: name },
  schemaName: { description: 'The name of a schema, such as run-snapshot.', schema: name },
  workerId: { description: 'As the registration of the worker gave it.', schema: name },
  priceList: { description: 'The price list, by its name.', schema: name },
  typeId: { description: 'Id of a node type.', schema: name },
  peer: { description: 'The agent of another host, by its name in the config file.', schema: name },
  agentId: { description: 'The agent, by its id in its pack.', schema: name },
  templateId: { description: 'The prompt template.', schema: templateId },
  server: { description: 'The MCP server, by its name in the config file.', schema: name },
};
