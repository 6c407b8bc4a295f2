import { type ClientSchema, isJsonObject, type Json, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { ModelMessage, ModelProvider, ModelReply, ModelRequest } from '../../ports/models.ts';
import {
  type EffectContext,
  type EffectInput,
  type EffectNodeType,
  type NodeEvent,
  NodeFailure,
} from '../../model/node-type.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { checkSchema } from '../config/schema-in-config.ts';
import { composedEvent, composePrompts, hasPromptRefs, PROMPT_REFS, refuseBoth } from './prompt-refs.ts';
import { stopEvents, usageEvent } from './model-events.ts';
import { structuredAnswer } from './structured-answer.ts';
import { untrusted, UNTRUSTED_NOTE } from './untrusted-text.ts';

const optional = Type.Optional;
const DEFAULT_REPAIRS = 1;

export const callPromptNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'core.ai.callPrompt',
  title: 'Call prompt',
  summary: 'Asks a language model and streams its answer into the log, piece by piece.',
  config: closedConfig({
    promptId: optional(nameOf({ minLength: 1, maxLength: 256 })),
    prompt: optional(Type.String({ minLength: 1 })),
    system: optional(Type.String({ minLength: 1 })),
    ...PROMPT_REFS,
    examples: optional(
      Type.Array(
        closedConfig({ user: Type.String({ minLength: 1 }), assistant: Type.String({ minLength: 1 }) }),
        { maxItems: 32 },
      ),
    ),
    model: optional(nameOf({ minLength: 1, maxLength: 256 })),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: optional(Type.Integer({ minimum: 1 })),
    outputSchema: optional(jsonObject),
    maxRepairs: optional(Type.Integer({ minimum: 0, maximum: 4 })),
    expectsStreaming: optional(Type.Boolean()),
  }),
  outputPorts: ['output', 'text', 'value', 'model', 'finishReason', 'usage', 'toolCalls'],
  asksModel: true,
  // What a template makes of which ports is known when it is composed.
  dependsOn: (config) => (hasPromptRefs(config) ? undefined : ['prompt', 'system', 'input']),
  prepare: (config, tools) => {
    if (['promptId', 'prompt', 'userPromptRef'].every((field) => config[field] === undefined)) {
      tools.refuse('', 'There is nothing to ask: give "prompt", "userPromptRef" or "promptId".');
    }
    refuseBoth(config, tools, { prompt: 'userPromptRef', system: 'systemPromptRef' });
    const { outputSchema } = config;
    if (outputSchema === undefined && config['maxRepairs'] !== undefined) {
      tools.refuse('/maxRepairs', 'Nothing is repaired without "outputSchema": remove it, or give a schema.');
    }
    if (!isJsonObject(outputSchema)) return undefined;
    checkSchema(tools, '/outputSchema', outputSchema);
    return tools.schemas.schema(outputSchema);
  },
  async perform(given, context) {
    const { input, events: composed } = await withPrompts(given, context);
    const result = await ask(input, context);
    return { ...result, events: [...composed, ...(result.events ?? [])] };
  },
};

/** The same with what templates say in place of the references to them. */
async function withPrompts(
  input: EffectInput,
  context: EffectContext,
): Promise<{ input: EffectInput; events: readonly NodeEvent[] }> {
  const { config, inputs, nodeId } = input;
  if (!hasPromptRefs(config)) return { input, events: [] };
  const composed = await composePrompts(config, inputs, context);
  const { system, user, ports } = composed;
  const rest = Object.entries(inputs).filter(([port]) => !ports.includes(port));
  const own = typeof config['system'] === 'string' ? config['system'] : undefined;
  return {
    input: {
      ...input,
      inputs: Object.fromEntries(rest),
      config: {
        ...config,
        ...(system !== undefined && { system: own === undefined ? system : `${own}\n\n${system}` }),
        ...(user !== undefined && { prompt: withOwnPrompt(user, config['prompt']) }),
      },
    },
    events: [composedEvent(nodeId, config, composed)],
  };
}

/** Examples of the library may stand before a prompt of the node. */
function withOwnPrompt(user: string, own: Json | undefined): string {
  return typeof own === 'string' ? `${user}\n\n${own}` : user;
}

const ask: EffectNodeType['perform'] = async (input, context) => {
  const request = requestOf(input);
  const provider = context.models.providerFor({
    model: request.model,
    configurable: input.configurable,
  });
  if (provider === undefined) {
    throw new NodeFailure(
      'provider_unavailable',
      'This host has no language model. An operator configures one with "models" in the config file.',
    );
  }
  const schema = input.prepared as ClientSchema | undefined;
  if (schema === undefined) return textAnswer(input.nodeId, provider, request, context);
  const maxRepairs = Number(input.config['maxRepairs'] ?? DEFAULT_REPAIRS);
  const asked = { nodeId: input.nodeId, provider, request, schema, maxRepairs };
  const { reply, value, events } = await structuredAnswer(asked, context);
  return { outputs: { ...outputsOf(reply), output: value, value }, events };
};

async function textAnswer(
  nodeId: string,
  provider: ModelProvider,
  request: ModelRequest,
  context: EffectContext,
): ReturnType<EffectNodeType['perform']> {
  const reply = await provider.call(request, context);
  return {
    outputs: outputsOf(reply),
    events: [usageEvent(provider, reply, nodeId), ...stopEvents(provider, reply, nodeId)],
  };
}

function outputsOf({ text, model, finishReason, usage, toolCalls }: ModelReply): JsonObject {
  return {
    output: text,
    text,
    model,
    finishReason,
    usage: { ...usage },
    ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
  };
}

/** The run's options go before what the node says, and a prompt on the input port before the one in the config. */
function requestOf({ config, inputs, configurable }: EffectInput): ModelRequest {
  const model = text(configurable['ai.model'] ?? configurable['model'] ?? config['model']);
  const temperature = configurable['temperature'] ?? config['temperature'];
  const maxTokens = configurable['maxTokens'] ?? config['maxTokens'];
  const { outputSchema } = config;
  return {
    messages: messagesOf(config, inputs),
    ...(model !== undefined && { model }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(isJsonObject(outputSchema) && { outputSchema }),
  };
}

/** With a prompt, what comes in beside it is data: it stands between marks, and the model is told what they mean. */
function messagesOf(config: JsonObject, inputs: JsonObject): ModelMessage[] {
  const prompt = inputs['prompt'] ?? config['prompt'];
  const data = inputs['input'];
  const system = text(inputs['system'] ?? config['system']);
  const isData = prompt !== undefined && data !== undefined;
  const instructions = [system, isData ? UNTRUSTED_NOTE : undefined].filter((part) => part !== undefined);
  const asked = asText(prompt ?? data ?? config['promptId'] ?? '');
  const examples = Array.isArray(config['examples']) ? config['examples'].filter(isJsonObject) : [];
  return [
    ...(instructions.length === 0 ? [] : [{ role: 'system' as const, text: instructions.join('\n\n') }]),
    ...examples.flatMap(({ user, assistant }) => [
      { role: 'user' as const, text: String(user) },
      { role: 'assistant' as const, text: String(assistant) },
    ]),
    { role: 'user', text: isData ? `${asked}\n\n${untrusted(asText(data), 'input')}` : asked },
  ];
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
