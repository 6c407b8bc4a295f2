import { canonicalJson, type Json, type JsonObject } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import { type EffectContext, NodeFailure, type StepRequest } from '../../model/node-type.ts';
import { type ModelContext, type ModelReply, type ModelRequest, tokensOf } from '../../ports/models.ts';
import { turnStep } from './agent-history.ts';
import { cutText, reasoningLimit, verbosityOf } from './reasoning.ts';

/** One turn of a model as a step: its request is recorded by its digest, because what is sent follows from the steps before. */
export function turnRequest(turn: number, asked: ModelRequest, images: readonly string[] = []): StepRequest {
  const { model } = asked;
  const sent = { ...asked, ...(images.length > 0 && { images }) };
  const digest = sha256Hex(canonicalJson(sent as unknown as Json));
  return { id: turnStep(turn), request: { turn, digest, ...(model !== undefined && { model }) } };
}

const MAX_CALLS = 32;

/** What a model call may use of its effect; its reasoning is streamed, as far as the run wants it. */
export function thinkingAloud(
  context: EffectContext,
  agentId: string,
  configurable: JsonObject,
): ModelContext {
  const verbosity = verbosityOf(configurable);
  let left = reasoningLimit(verbosity);
  return {
    signal: context.signal,
    invocationId: context.invocationId,
    egress: context.egress,
    secrets: context.secrets,
    emit: (chunk) => context.emit(chunk),
    holdsClaim: () => context.holdsClaim(),
    onReasoning(piece, isLast) {
      if (verbosity === 'off') return;
      const text = cutText(piece, left);
      left -= text.length;
      context.tellReasoning({ agentId, verbosity, text, isLast });
    },
  };
}

/** The answer of the model as it is recorded. */
export async function askModel(
  asked: ModelRequest,
  configurable: JsonObject,
  models: EffectContext['models'],
  context: ModelContext,
): Promise<JsonObject> {
  return recorded(await modelReply(asked, configurable, models, context));
}

export async function modelReply(
  asked: ModelRequest,
  configurable: JsonObject,
  models: EffectContext['models'],
  context: ModelContext,
): Promise<ModelReply> {
  const { model, modelClass } = asked;
  const provider = models.providerFor({ model, modelClass, configurable });
  if (provider === undefined) {
    throw new NodeFailure(
      'provider_unavailable',
      'This host has no language model. An operator configures one with "models" in the config file.',
    );
  }
  const reply = await provider.call(asked, context);
  const { toolCalls = [] } = reply;
  if (toolCalls.length > MAX_CALLS) {
    const message = `The model wants ${toolCalls.length} tool calls in one turn; the limit is ${MAX_CALLS}.`;
    throw new NodeFailure('model_reply_invalid', message, { retryable: true });
  }
  return { provider: provider.id, ...reply };
}

export function recorded(reply: ModelReply): JsonObject {
  const { provider = '', model, text, finishReason, usage, toolCalls = [], reasoning } = reply;
  return {
    provider,
    model,
    text,
    finishReason,
    usage: tokensOf(usage),
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
    ...(reasoning !== undefined && { reasoning }),
  };
}
