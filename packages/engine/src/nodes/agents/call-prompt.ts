import { type Json, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { ModelRequest } from '../../ports/models.ts';
import { type EffectInput, type EffectNodeType, NodeFailure } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';

const optional = Type.Optional;

export const callPromptNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'core.ai.callPrompt',
  title: 'Call prompt',
  summary: 'Asks a language model and streams its answer into the log, piece by piece.',
  config: closedConfig({
    promptId: optional(nameOf({ minLength: 1, maxLength: 256 })),
    prompt: optional(Type.String({ minLength: 1 })),
    system: optional(Type.String({ minLength: 1 })),
    model: optional(nameOf({ minLength: 1, maxLength: 256 })),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: optional(Type.Integer({ minimum: 1 })),
    expectsStreaming: optional(Type.Boolean()),
  }),
  outputPorts: ['output', 'text', 'model', 'finishReason', 'usage', 'toolCalls'],
  asksModel: true,
  dependsOn: () => ['prompt', 'system', 'input'],
  prepare: (config, tools) => {
    if (config['promptId'] === undefined && config['prompt'] === undefined) {
      tools.refuse('', 'There is nothing to ask: give "prompt" or "promptId".');
    }
  },
  async perform(input, context) {
    const request = requestOf(input);
    const provider = context.models.providerFor({
      model: request.model,
      configurable: input.configurable,
    });
    if (provider === undefined) {
      throw new NodeFailure(
        'provider_unavailable',
        'This host has no language model. On a test host, a test key may name one in configurable.mockProvider.',
      );
    }
    const reply = await provider.call(request, context);
    const { text, model, finishReason, usage, toolCalls } = reply;
    return {
      outputs: {
        output: text,
        text,
        model,
        finishReason,
        usage: { ...usage },
        ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
      },
      events: [
        {
          type: 'provider.usage',
          payload: {
            provider: provider.id,
            model,
            inputTokens: usage.promptTokens,
            outputTokens: usage.completionTokens,
            totalTokens: usage.totalTokens,
            nodeId: input.nodeId,
          },
        },
      ],
    };
  },
};

/** The run's options go before what the node says, and a prompt on the input port before the one in the config. */
function requestOf({ config, inputs, configurable }: EffectInput): ModelRequest {
  const prompt = inputs['prompt'] ?? config['prompt'] ?? inputs['input'] ?? config['promptId'] ?? '';
  const model = text(configurable['ai.model'] ?? configurable['model'] ?? config['model']);
  const system = text(inputs['system'] ?? config['system']);
  const temperature = configurable['temperature'] ?? config['temperature'];
  const maxTokens = configurable['maxTokens'] ?? config['maxTokens'];
  return {
    messages: [
      ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
      { role: 'user', text: typeof prompt === 'string' ? prompt : JSON.stringify(prompt) },
    ],
    ...(model !== undefined && { model }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
  };
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
