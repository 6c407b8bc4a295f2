import { type Static, Type } from 'typebox';
import { anyJson, closed, dateTime, nameOf, namedValues, nonEmpty, open } from '../schema-parts.ts';

/** Prompt templates: named, versioned texts with variables, which nodes refer to instead of holding them. */

const optional = Type.Optional;

export const PROMPT_KINDS = ['system', 'user', 'few-shot', 'schema-hint'] as const;
/** A host takes no longer text; the protocol allows up to 65536. */
export const MAX_PROMPT_BYTES = 16_384;
const SEMVER = '\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?';
const TEMPLATE_ID = '[a-z0-9][a-z0-9._-]{0,127}';

const version = Type.String({ pattern: `^${SEMVER}$`, maxLength: 128 });
export const templateId = Type.String({ pattern: `^${TEMPLATE_ID}$` });

const VariableSchema = closed({
  name: Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]{0,63}$' }),
  type: Type.Enum(['string', 'number', 'boolean', 'array', 'object']),
  required: Type.Boolean(),
  source: optional(Type.Enum(['input'], { description: 'The input port of its name. There is no other.' })),
  defaultValue: optional(anyJson),
  description: optional(Type.String({ maxLength: 500 })),
});

const shape = {
  version,
  kind: Type.Enum([...PROMPT_KINDS]),
  text: Type.String({
    minLength: 1,
    maxLength: MAX_PROMPT_BYTES,
    description: 'Holds {{name}} where a variable stands.',
  }),
  name: optional(nameOf({ maxLength: 200 })),
  description: optional(Type.String({ maxLength: 2000 })),
  variables: optional(Type.Array(VariableSchema, { maxItems: 64 })),
  modelHints: optional(
    closed({
      modelClass: optional(nameOf({ minLength: 1, maxLength: 128 })),
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
      maxTokens: optional(Type.Integer({ minimum: 1 })),
      envelopeType: optional(nameOf({ minLength: 1, maxLength: 256 })),
    }),
  ),
  tags: optional(Type.Array(nameOf({ minLength: 1, maxLength: 64 }), { maxItems: 32, uniqueItems: true })),
};

/** Times and source are the host's to say; they may stand there, so that what was read can be sent back. */
const GivenMetaSchema = closed({
  author: optional(nameOf({ maxLength: 200 })),
  createdAt: optional(dateTime),
  updatedAt: optional(dateTime),
  source: optional(Type.Enum(['user'])),
});

export const CreatePromptSchema = closed({ templateId, ...shape, meta: optional(GivenMetaSchema) });
export const UpdatePromptSchema = closed({
  templateId: optional(templateId),
  ...shape,
  meta: optional(GivenMetaSchema),
});

export const PromptTemplateSchema = closed({
  templateId,
  ...shape,
  meta: optional(
    closed({
      author: optional(Type.String()),
      createdAt: dateTime,
      updatedAt: dateTime,
      source: Type.Enum(['host', 'pack', 'user']),
    }),
  ),
});

export const PromptListSchema = open({
  items: Type.Array(PromptTemplateSchema),
  nextCursor: optional(Type.String({ description: 'Absent on the last page.' })),
});

/** A pinned version, or the newest. */
export const PROMPT_REF_TEXT = Type.String({
  pattern: `^prompt:${TEMPLATE_ID}(@${SEMVER})?$`,
  maxLength: 300,
});

export const PromptRefSchema = Type.Union([
  PROMPT_REF_TEXT,
  closed({
    templateId,
    version: optional(version),
    libraryId: optional(templateId),
    variableOverrides: optional(namedValues),
  }),
]);

export const RenderPromptSchema = closed({
  ref: PromptRefSchema,
  variables: optional(namedValues),
  contentTrust: optional(
    Type.Enum(['trusted', 'untrusted'], {
      description: 'With untrusted, values stand between <UNTRUSTED> and </UNTRUSTED>. Default: trusted.',
    }),
  ),
});

export const RenderedPromptSchema = open({
  hash: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  refs: Type.Array(nonEmpty),
  variableHashes: open({}),
  contentTrust: optional(Type.Enum(['trusted', 'untrusted'])),
});

export type PromptTemplateDocument = Static<typeof PromptTemplateSchema>;
export type CreatePromptRequest = Static<typeof CreatePromptSchema>;
export type UpdatePromptRequest = Static<typeof UpdatePromptSchema>;
export type RenderPromptRequest = Static<typeof RenderPromptSchema>;
export type RenderedPrompt = Static<typeof RenderedPromptSchema>;
