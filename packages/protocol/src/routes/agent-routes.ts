import { AgentEntrySchema, AgentListSchema } from '../documents/agents/agents.ts';
import { describeRoutes } from './route-description.ts';

const READ = 'runs:read';

/** Agents of installed packs, as the protocol defines their inventory. */
export const AGENT_ROUTES = describeRoutes({
  listAgents: {
    scope: READ,
    summary:
      'Agents of installed packs that nodes of the caller’s tenant may pin. A 404 where the host has no packs.',
    responses: { 200: { description: 'All of them.', schema: AgentListSchema } },
    errors: ['not_found'],
  },
  getAgent: {
    scope: READ,
    summary: 'One agent of an installed pack.',
    responses: { 200: { description: 'Its newest version.', schema: AgentEntrySchema } },
    errors: ['not_found'],
  },
});
