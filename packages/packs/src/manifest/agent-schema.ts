import { nameOf } from '@weft/protocol';
import { type Static, Type } from 'typebox';

/** An entry of `agents` in `pack.json`. What people and logs are shown of it is held to what names may be. */

const optional = Type.Optional;

/** Kinds of models that an agent may ask for. */
export const MODEL_CLASSES = [
  'reasoning',
  'writing',
  'coding',
  'research',
  'classification',
  'general',
] as const;

export const AGENT_LIMITS = {
  agents: 100,
  /** Characters of a prompt, as of the instructions in a node's config. */
  prompt: 65_536,
  tools: 64,
} as const;

/** Of a file in the archive. */
const path = nameOf({ minLength: 1, maxLength: 255 });

function closed<Properties extends Parameters<typeof Type.Object>[0]>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

export const AgentSchema = closed({
  agentId: Type.String({
    pattern: '^(core|vendor|community|private|local)\\.[a-z][a-z0-9_-]*(\\.[a-z][a-zA-Z0-9_-]*)+$',
    maxLength: 256,
  }),
  persona: nameOf({ minLength: 1, maxLength: 200 }),
  modelClass: Type.Enum([...MODEL_CLASSES]),
  systemPrompt: optional(Type.String({ minLength: 1, maxLength: AGENT_LIMITS.prompt })),
  systemPromptRef: optional(path),
  toolAllowlist: optional(
    Type.Array(nameOf({ minLength: 1, maxLength: 256 }), {
      maxItems: AGENT_LIMITS.tools,
      uniqueItems: true,
    }),
  ),
  memoryShape: optional(
    closed({
      scratchpad: optional(Type.Boolean()),
      conversation: optional(Type.Boolean()),
      longTerm: optional(Type.Boolean()),
    }),
  ),
  confidence: optional(closed({ defaultThreshold: optional(Type.Number({ minimum: 0, maximum: 1 })) })),
  handoff: optional(closed({ taskSchemaRef: optional(path), returnSchemaRef: optional(path) })),
  label: optional(nameOf({ minLength: 1, maxLength: 100 })),
  description: optional(nameOf({ maxLength: 500 })),
});

export type AgentManifest = Static<typeof AgentSchema>;
