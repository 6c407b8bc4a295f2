import { Type } from 'typebox';
import {
  CreatePromptSchema,
  PROMPT_KINDS,
  PromptListSchema,
  PromptTemplateSchema,
  RenderedPromptSchema,
  RenderPromptSchema,
  templateId,
  UpdatePromptSchema,
} from '../documents/agents/prompts.ts';
import { name, nameOf } from '../documents/schema-parts.ts';
import { describeRoutes } from './route-description.ts';

const READ = 'prompts:read';
const WRITE = 'prompts:write';
const LIBRARY = { name: 'libraryId', description: 'There is one: default.', schema: templateId } as const;

/** The library of prompt templates, as the protocol defines it. */
export const PROMPT_ROUTES = describeRoutes({
  listPrompts: {
    scope: READ,
    summary: 'The newest version of each prompt template of the caller’s tenant, newest first.',
    query: [
      { name: 'kind', description: 'Only of this kind.', schema: Type.Enum([...PROMPT_KINDS]) },
      {
        name: 'tag',
        description: 'Only with this tag; may be repeated, and all must be there.',
        schema: name,
      },
      { name: 'modelClass', description: 'Only those that hint at it.', schema: name },
      { name: 'source', description: 'Where it comes from.', schema: Type.Enum(['host', 'pack', 'user']) },
      {
        name: 'limit',
        description: 'Rows in one answer. Default: 50.',
        schema: Type.Integer({ minimum: 1, maximum: 200 }),
      },
      { name: 'cursor', description: 'The nextCursor of the answer before.', schema: name },
    ],
    responses: { 200: { description: 'A page of templates.', schema: PromptListSchema } },
    errors: ['validation_error'],
  },
  createPrompt: {
    scope: WRITE,
    summary: 'Adds a prompt template, or another version of one.',
    request: { schema: CreatePromptSchema, required: true },
    responses: {
      201: { description: 'Added.', schema: PromptTemplateSchema, headers: ['Location'] },
    },
    errors: ['validation_error', 'conflict', 'payload_too_large'],
  },
  getPrompt: {
    scope: READ,
    summary: 'A prompt template: its newest version, or the one that is asked for.',
    query: [
      { name: 'version', description: 'Exactly this one.', schema: nameOf({ minLength: 1, maxLength: 128 }) },
      LIBRARY,
    ],
    headers: [
      { name: 'If-None-Match', description: 'The ETag of an earlier answer.', schema: Type.String() },
    ],
    responses: {
      200: { description: 'The template.', schema: PromptTemplateSchema, headers: ['ETag'] },
      304: { description: 'As before.', headers: ['ETag'] },
    },
    errors: ['validation_error'],
  },
  updatePrompt: {
    scope: WRITE,
    summary: 'Adds a version of a prompt template that is newer than all of it; those before stay.',
    request: { schema: UpdatePromptSchema, required: true },
    responses: { 200: { description: 'The new version.', schema: PromptTemplateSchema } },
    errors: ['validation_error', 'conflict', 'payload_too_large'],
  },
  removePrompt: {
    scope: WRITE,
    summary: 'Removes a prompt template with all its versions. What runs have composed from it stays.',
    responses: { 204: { description: 'Removed.' } },
    errors: [],
  },
  renderPrompt: {
    scope: READ,
    summary: 'What a prompt template becomes with these values, by its hash. Asks no model.',
    request: { schema: RenderPromptSchema, required: true },
    responses: { 200: { description: 'Composed.', schema: RenderedPromptSchema } },
    errors: [
      'validation_error',
      'prompt_ref_invalid',
      'prompt_variable_unresolved',
      'prompt_variable_type_mismatch',
      'payload_too_large',
    ],
  },
});
