import { Type } from 'typebox';
import { anyJson, closed, nameOf } from '../documents/schema-parts.ts';
import { describeRoutes, type Parameter } from './route-description.ts';

const SESSION: Parameter = {
  name: 'Mcp-Session-Id',
  description: 'As the answer to the initialize request gave it.',
  schema: nameOf({ minLength: 1, maxLength: 128 }),
};

const frame = {
  event: Type.Literal('message'),
  data: Type.String({ contentMediaType: 'application/json', contentSchema: anyJson }),
};

/** With an id where a client may continue behind it. */
const MESSAGES = Type.String({
  contentMediaType: 'text/event-stream',
  contentSchema: Type.Array(Type.Union([closed({ id: Type.String(), ...frame }), closed(frame)])),
});

/** The Model Context Protocol over streamable HTTP: workflows as tools of assistants. Its own documents say what is in the messages. */
export const MCP_ROUTES = describeRoutes({
  sendMcpMessage: {
    scope: 'manifest:read',
    summary: 'A JSON-RPC message of the Model Context Protocol.',
    headers: [SESSION],
    request: { schema: anyJson, required: true },
    responses: {
      200: {
        description: 'The answer, with what is to be said before it, as events.',
        schema: MESSAGES,
        contentType: 'text/event-stream',
        headers: ['Mcp-Session-Id', 'X-Accel-Buffering'],
      },
      202: { description: 'There is nothing to answer.' },
    },
    errors: ['validation_error', 'not_found', 'rate_limited', 'host_not_allowed'],
  },
  streamMcpMessages: {
    scope: 'manifest:read',
    summary: 'What the host has to say of itself in a session, as events.',
    headers: [SESSION],
    responses: {
      200: {
        description: 'Messages, each an event.',
        schema: MESSAGES,
        contentType: 'text/event-stream',
        headers: ['Mcp-Session-Id', 'X-Accel-Buffering'],
      },
    },
    errors: ['validation_error', 'not_found', 'host_not_allowed'],
  },
  endMcpSession: {
    scope: 'manifest:read',
    summary: 'Ends a session. Runs that were started in it continue.',
    headers: [SESSION],
    responses: { 200: { description: 'It has ended.' } },
    errors: ['not_found', 'host_not_allowed'],
  },
});
