import { type Static, Type } from 'typebox';
import { open, count, nonEmpty } from '../schema-parts.ts';

const optional = Type.Optional;

/**
 * Whose tools the agents of packs may be given, by the first part of their names: those of MCP servers (`mcp:SERVER/TOOL`), node types
 * (`weft.node:TYPEID`) and workflows (`weft.workflow:ID`).
 */
export const AGENT_TOOL_SCOPES = ['mcp', 'weft.node', 'weft.workflow'] as const;

export const AgentEntrySchema = open(
  {
    agentId: nonEmpty,
    persona: Type.String({ description: 'What people call it.' }),
    label: Type.String({ description: 'A short name; that of persona where the pack has none.' }),
    description: optional(Type.String()),
    modelClass: Type.String({ description: 'The kind of model that it asks for.' }),
    packName: Type.String(),
    packVersion: Type.String(),
    toolAllowlist: Type.Array(Type.String(), { description: 'Tools that it may be given, and no others.' }),
    hasHandoffSchemas: Type.Boolean({
      description: 'What it is given, or what it returns, is held to a schema.',
    }),
    memoryShape: optional(
      open({
        scratchpad: optional(Type.Boolean()),
        conversation: optional(Type.Boolean()),
        longTerm: optional(Type.Boolean()),
      }),
    ),
    confidenceThreshold: optional(Type.Number({ minimum: 0, maximum: 1 })),
    degraded: optional(
      Type.Array(Type.String(), {
        description: 'Capabilities that the pack can do without, and has to here.',
      }),
    ),
    memoryDegraded: optional(
      Type.Boolean({ description: 'This host does not give it all of the memory that memoryShape names.' }),
    ),
    degradedMemoryDimensions: optional(Type.Array(Type.Enum(['read', 'write', 'long-term']))),
  },
  'An agent of an installed pack. Its prompt and its schemas are not told.',
);

export const AgentListSchema = open({
  agents: Type.Array(AgentEntrySchema, { description: 'Sorted by agentId; of each the newest version.' }),
  total: count,
});

export type AgentEntry = Static<typeof AgentEntrySchema>;
export type AgentList = Static<typeof AgentListSchema>;
