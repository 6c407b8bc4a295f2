import { type Static, Type } from 'typebox';
import { closed, jsonObject, name, nonEmpty, open } from '../schema-parts.ts';

const optional = Type.Optional;

const ToolSchema = open({
  name: nonEmpty,
  description: optional(
    Type.String({ description: 'In the words of the server, which are not to be trusted.' }),
  ),
  digest: Type.String({ description: 'SHA-256 of the definition: another one is another tool.' }),
  readOnly: Type.Boolean(),
  idempotent: Type.Boolean(),
  destructive: Type.Boolean(),
  needsApproval: Type.Boolean({
    description:
      'A person agrees to each call of a run, by the configuration or because it may destroy something.',
  }),
  inputSchema: jsonObject,
});

const problem = closed({ code: nonEmpty, message: nonEmpty }, 'Why there is no result.');

export const ToolServerSchema = open({
  name: nonEmpty,
  transport: Type.Enum(['stdio', 'http']),
  state: Type.Enum(['idle', 'starting', 'ready', 'failed', 'stopped'], {
    description: 'A server is started at its first use, and again after it has failed.',
  }),
  serverName: optional(Type.String({ description: 'As the server calls itself.' })),
  problem: optional(Type.String({ description: 'Why it failed; for the operator’s tenant.' })),
  tools: optional(Type.Array(ToolSchema, { description: 'As last listed; absent before.' })),
  leftOut: optional(
    Type.Array(nonEmpty, { description: 'What it lists and cannot be offered, with the reason.' }),
  ),
});

export const ToolServerListSchema = open({ servers: Type.Array(ToolServerSchema) });

export const ToolServerTestSchema = open({
  server: ToolServerSchema,
  tookMs: Type.Integer({ minimum: 0 }),
  error: optional(problem),
});

export const CallToolSchema = closed({
  tool: name,
  arguments: optional(jsonObject),
});

export const ToolOutcomeSchema = open({
  result: optional(
    open({
      content: Type.Array(Type.Unknown()),
      structuredContent: optional(jsonObject),
      isError: Type.Boolean({ description: 'The tool itself says that it has failed.' }),
    }),
  ),
  error: optional(problem),
  tookMs: Type.Integer({ minimum: 0 }),
});

export type ToolServerDocument = Static<typeof ToolServerSchema>;
export type ToolServerTest = Static<typeof ToolServerTestSchema>;
export type CallToolRequest = Static<typeof CallToolSchema>;
export type ToolOutcome = Static<typeof ToolOutcomeSchema>;
