import { Type } from 'typebox';
import { anyJson, closed, jsonObject, nameOf } from '../documents/schema-parts.ts';
import { describeRoutes, type Parameter } from './route-description.ts';

const VERSION: Parameter = {
  name: 'A2A-Version',
  description: 'Of the protocol: 1.0, or 0.3, which is meant where it is left out.',
  schema: nameOf({ minLength: 1, maxLength: 32 }),
};

const frame = { data: Type.String({ contentMediaType: 'application/json', contentSchema: anyJson }) };

/** Agent2Agent: workflows as skills for agents of other hosts. Its own documents say what is in the messages. */
export const A2A_ROUTES = describeRoutes({
  getAgentCard: {
    scope: null,
    summary:
      'The card of this host as an agent. With a key it names the workflows that are offered as skills.',
    headers: [VERSION],
    responses: { 200: { description: 'The card, in the version that was asked for.', schema: jsonObject } },
    errors: ['unauthenticated', 'forbidden', 'host_not_allowed'],
  },
  sendA2aMessage: {
    scope: 'manifest:read',
    summary: 'A JSON-RPC message of the Agent2Agent protocol. A task is a run, under the same id.',
    headers: [VERSION],
    request: { schema: jsonObject, required: true },
    responses: {
      200: {
        description: 'The answer, or the answers as events.',
        schema: Type.String({
          contentMediaType: 'text/event-stream',
          contentSchema: Type.Array(closed(frame)),
        }),
        contentType: 'text/event-stream',
        asJson: jsonObject,
        headers: ['X-Accel-Buffering'],
      },
    },
    errors: ['validation_error', 'rate_limited', 'host_not_allowed'],
  },
});
