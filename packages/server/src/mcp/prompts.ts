import type { PromptArgument } from '@modelcontextprotocol/sdk/types.js';
import {
  composePrompt,
  isHostError,
  type Json,
  parseStrictJson,
  placeholders,
  type PromptTemplateDocument,
} from '@weft/protocol';
import type { ResourceSession } from './resources.ts';
import { InvalidArguments } from './tools.ts';

/** Templates of the library that say what a person asks: the others belong to nodes. */
const KIND = 'user';
const PAGE = 100;

type PromptSession = Pick<ResourceSession, 'context' | 'admit'>;

interface ListedPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
}

export async function listPrompts({ context, admit }: PromptSession, cursor: string | undefined) {
  const caller = await admit('listPrompts');
  const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
  const { rows, nextCursor } = await context.host.prompts.list(caller, { kind: KIND, tags: [] }, page);
  return { prompts: rows.map(listed), ...(nextCursor !== undefined && { nextCursor }) };
}

function listed(template: PromptTemplateDocument): ListedPrompt {
  const { templateId, name, description } = template;
  return {
    name: templateId,
    ...(name !== undefined && { title: name }),
    ...(description !== undefined && { description }),
    arguments: argumentsOf(template),
  };
}

function argumentsOf({ text, variables = [] }: PromptTemplateDocument): PromptArgument[] {
  const declared = variables.map(({ name, description, required }) => ({
    name,
    ...(description !== undefined && { description }),
    required,
  }));
  const known = new Set(declared.map(({ name }) => name));
  const others = [...placeholders(text)].filter((name) => !known.has(name));
  return [...declared, ...others.map((name) => ({ name, required: false }))];
}

/** The newest version, with these values. A client sends texts alone: what is of another type is read as JSON. */
export async function getPrompt(
  { context, admit }: PromptSession,
  name: string,
  given: Readonly<Record<string, string>>,
) {
  const found = await context.host.prompts.get(await admit('getPrompt'), name);
  if (found?.template.kind !== KIND) throw new InvalidArguments(`There is no prompt "${name}".`);
  const { template } = found;
  const types = new Map((template.variables ?? []).map((variable) => [variable.name, variable.type]));
  const values = Object.fromEntries(
    Object.entries(given).map(([each, value]) => [each, valueOf(each, value, types.get(each))]),
  );
  const { description } = template;
  const content = { type: 'text' as const, text: composed(template, values) };
  return {
    ...(description !== undefined && { description }),
    messages: [{ role: 'user' as const, content }],
  };
}

function valueOf(name: string, value: string, type: string | undefined): Json {
  if (type === undefined || type === 'string') return value;
  try {
    return parseStrictJson(value);
  } catch {
    throw new InvalidArguments(`The argument "${name}" is a ${type}: write it as JSON.`);
  }
}

function composed(template: PromptTemplateDocument, values: Readonly<Record<string, Json>>): string {
  try {
    return composePrompt(template, values, false).text;
  } catch (error) {
    if (!isHostError(error)) throw error;
    throw new InvalidArguments(error.message);
  }
}
