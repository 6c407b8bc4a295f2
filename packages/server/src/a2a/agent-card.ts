import { AgentCard } from '@a2a-js/sdk';
import { pathOf } from '@weft/protocol';
import type { ExposedWorkflow } from '../protocols/exposed-workflows.ts';

export const A2A_VERSIONS = ['1.0', '0.3'] as const;

/** Says that a message whose id was seen is taken for the same message: clients may send one again whose answer they have missed. */
const IDEMPOTENT_MESSAGES = {
  uri: 'urn:weft:a2a:idempotent-messages',
  description: 'A message with an id that was seen before is not taken twice.',
  required: false,
};

export interface CardParts {
  /** Of the host, without a slash at the end. */
  readonly origin: string;
  readonly version: string;
  readonly skills: readonly ExposedWorkflow[];
  readonly pushNotifications: boolean;
}

/** What the host is to agents of others: its workflows are skills, under their ids. */
export function agentCardOf({ origin, version, skills, pushNotifications }: CardParts): AgentCard {
  return AgentCard.fromJSON({
    name: 'Weft',
    description: 'Runs durable workflows. A task is a run: it survives restarts, and may wait for people.',
    version,
    supportedInterfaces: A2A_VERSIONS.map((protocolVersion) => ({
      url: `${origin}${pathOf('sendA2aMessage')}`,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    capabilities: {
      streaming: true,
      pushNotifications,
      extendedAgentCard: true,
      extensions: [IDEMPOTENT_MESSAGES],
    },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['application/json', 'text/plain'],
    defaultOutputModes: ['application/json'],
    skills: skills.map(({ workflowId, title, description, inputSchema }) => ({
      id: workflowId,
      name: title,
      description: `${description}\n\nInput: ${JSON.stringify(inputSchema)}`,
      tags: ['workflow'],
    })),
  });
}
