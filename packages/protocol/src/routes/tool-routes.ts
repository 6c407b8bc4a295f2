import {
  CallToolSchema,
  ToolOutcomeSchema,
  ToolServerListSchema,
  ToolServerTestSchema,
} from '../documents/agents/tools.ts';
import { describeRoutes } from './route-description.ts';

/** MCP servers of the host's config file. */
export const TOOL_ROUTES = describeRoutes({
  listToolServers: {
    scope: 'manifest:read',
    summary:
      'MCP servers that the operator has configured, their state on this process, and their tools as last listed.',
    responses: { 200: { description: 'All of them.', schema: ToolServerListSchema } },
    errors: [],
  },
  testToolServer: {
    scope: 'host:admin',
    summary: 'Starts an MCP server if it does not run, and lists its tools.',
    responses: { 200: { description: 'How it is, or why it is not.', schema: ToolServerTestSchema } },
    errors: ['not_found'],
  },
  callTool: {
    scope: 'host:admin',
    summary:
      'Calls a tool of an MCP server now, outside of any run. It needs no approval, because the caller is the operator; the call is audited.',
    request: { schema: CallToolSchema, required: true },
    responses: { 200: { description: 'Its result, or its error.', schema: ToolOutcomeSchema } },
    errors: ['validation_error', 'not_found'],
  },
});
