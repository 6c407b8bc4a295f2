import { composePrompt, HostError, type JsonObject, placeholders, PROMPT_REF_TEXT } from '@weft/protocol';
import { Type } from 'typebox';
import {
  type EffectContext,
  type NodeEvent,
  NodeFailure,
  type NodeInput,
  type PrepareTools,
  type StepInput,
  type StepRecord,
  type StepRequest,
} from '../../model/node-type.ts';
import { hashesOf, hashOf, parseRef, refInvalid, refText } from '../../core/prompts/prompt-ref.ts';
import { PROMPTS_STEP } from './agent-history.ts';
import { UNTRUSTED_NOTE } from './untrusted-text.ts';

/** Config by which a node takes its words from the library, each for a template of its kind. */
export const PROMPT_REFS = {
  systemPromptRef: Type.Optional(PROMPT_REF_TEXT),
  userPromptRef: Type.Optional(PROMPT_REF_TEXT),
  schemaHintPromptRef: Type.Optional(PROMPT_REF_TEXT),
  fewShotPromptRefs: Type.Optional(Type.Array(PROMPT_REF_TEXT, { minItems: 1, maxItems: 8 })),
};

const SLOTS = [
  ['system', 'systemPromptRef'],
  ['schema-hint', 'schemaHintPromptRef'],
  ['few-shot', 'fewShotPromptRefs'],
  ['user', 'userPromptRef'],
] as const;

/** What a node has composed from templates. */
export interface ComposedPrompts {
  readonly system?: string;
  readonly user?: string;
  /** With the versions that were used, in the order in which they stand in the prompt. */
  readonly refs: readonly string[];
  readonly hash: string;
  readonly variableHashes: Readonly<Record<string, string>>;
  /** Input ports whose values stand in it. */
  readonly ports: readonly string[];
}

export function hasPromptRefs(config: JsonObject): boolean {
  return SLOTS.some(([, field]) => config[field] !== undefined);
}

/** What a node says itself and what it takes from the library would both be meant. */
export function refuseBoth(
  config: JsonObject,
  tools: Pick<PrepareTools, 'refuse'>,
  refs: Readonly<Record<string, string>>,
): void {
  for (const [own, ref] of Object.entries(refs))
    if (config[own] !== undefined && config[ref] !== undefined)
      tools.refuse(`/${ref}`, `Give "${own}" or "${ref}", not both.`);
}

/** Values of input ports stand in place of the variables of their names, between marks, because they may come from anywhere. */
async function composePrompts(
  config: JsonObject,
  inputs: JsonObject,
  { prompts }: Pick<EffectContext, 'prompts'>,
): Promise<ComposedPrompts> {
  const texts: Record<(typeof SLOTS)[number][0], string[]> = {
    system: [],
    'schema-hint': [],
    'few-shot': [],
    user: [],
  };
  const refs: string[] = [];
  const values = new Map<string, string>();
  for (const [kind, field] of SLOTS) {
    const given = config[field] ?? [];
    for (const ref of (Array.isArray(given) ? given : [given]).map(String)) {
      const { templateId, version } = parseRef(ref);
      const found = await prompts.find(templateId, version);
      if (found === undefined) throw failure(refInvalid(ref));
      const { template } = found;
      if (template.kind !== kind) throw otherKind(ref, template.kind, field);
      const composed = composeOrFail(template, inputs);
      texts[kind].push(composed.text);
      refs.push(refText(templateId, template.version));
      for (const [name, value] of Object.entries(composed.values)) values.set(name, value);
    }
  }
  const note = values.size > 0 ? [UNTRUSTED_NOTE] : [];
  const system = [...texts.system, ...texts['schema-hint'], ...note].join('\n\n');
  const user = [...texts['few-shot'], ...texts.user].join('\n\n');
  const all = [texts.system, texts['schema-hint'], texts['few-shot'], texts.user].flat();
  return {
    ...(system !== '' && { system }),
    ...(user !== '' && { user }),
    refs,
    hash: hashOf(all.join('\n\n')),
    variableHashes: hashesOf(Object.fromEntries(values)),
    ports: [...values.keys()],
  };
}

/** The step by which a node composes what it has templates for, before its first turn. */
export const COMPOSING: StepRequest = { id: PROMPTS_STEP, request: {}, onUnknownOutcome: 'repeat' };

export async function composeTemplates(
  { config, inputs }: Pick<StepInput, 'config' | 'inputs'>,
  context: EffectContext,
): Promise<JsonObject> {
  const { refs, ports, variableHashes, ...composed } = await composePrompts(config, inputs, context);
  return { ...composed, refs: [...refs], ports: [...ports], variableHashes: { ...variableHashes } };
}

/** Once, when that step has ended. */
export function tellComposed(
  { nodeId, config }: Pick<NodeInput, 'nodeId' | 'config'>,
  prompts: StepRecord | undefined,
  steps: readonly StepRecord[],
): NodeEvent[] {
  if (prompts?.result === undefined || prompts.round !== steps.at(-1)?.round) return [];
  return [composedEvent(nodeId, config, prompts.result as JsonObject & ComposedPrompts)];
}

/** Tells which templates, and which values, by their hashes. */
function composedEvent(
  nodeId: string,
  config: JsonObject,
  { refs, hash, variableHashes }: Pick<ComposedPrompts, 'refs' | 'hash' | 'variableHashes'>,
): NodeEvent {
  const isSystem = config['systemPromptRef'] !== undefined || config['schemaHintPromptRef'] !== undefined;
  const isUser = config['userPromptRef'] !== undefined || config['fewShotPromptRefs'] !== undefined;
  const isBound = Object.keys(variableHashes).length > 0;
  return {
    type: 'prompt.composed',
    payload: {
      nodeId,
      refs: [...refs],
      kind: isSystem && isUser ? 'system+user' : isSystem ? 'system-only' : 'user-only',
      hash,
      variableHashes: { ...variableHashes },
      contentTrust: isBound ? 'untrusted' : 'trusted',
    },
  };
}

function composeOrFail(template: Parameters<typeof composePrompt>[0], inputs: JsonObject) {
  const names = new Set([
    ...placeholders(template.text),
    ...(template.variables ?? []).map(({ name }) => name),
  ]);
  const bound = Object.fromEntries(Object.entries(inputs).filter(([name]) => names.has(name)));
  try {
    return composePrompt(template, bound, true);
  } catch (error) {
    throw error instanceof HostError ? failure(error) : error;
  }
}

function otherKind(ref: string, kind: string, field: string): NodeFailure {
  const message = `config.${field} refers to "${ref}", which is a template of kind ${kind}.`;
  return new NodeFailure('prompt_ref_invalid', message, { details: { ref, kind } });
}

function failure({ code, message, details }: HostError): NodeFailure {
  return new NodeFailure(code, message, details === undefined ? {} : { details });
}
