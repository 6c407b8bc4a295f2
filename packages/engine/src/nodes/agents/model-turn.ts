import { canonicalJson, type Json, type JsonObject } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import { type EffectContext, NodeFailure, type StepRecord, type StepRequest } from '../../model/node-type.ts';
import { tokensOf } from '../../ports/models.ts';
import { type AgentHistory, readHistory, turnStep } from './agent-history.ts';
import { type AgentPlace, modelOf, modelRequest } from './agent-transcript.ts';

export type { AgentPlace } from './agent-transcript.ts';

/** One turn of a model as a step: its request is told by its digest, because what is sent follows from the steps before. */
export function turnRequest(place: AgentPlace, history: AgentHistory): StepRequest {
  const turn = history.turns.length + 1;
  const model = modelOf(place);
  const digest = sha256Hex(canonicalJson(modelRequest(place, history) as unknown as Json));
  return {
    id: turnStep(turn),
    request: { turn, digest, ...(model !== undefined && { model }) },
    onUnknownOutcome: 'repeat',
  };
}

const MAX_CALLS = 32;

export async function askModel(
  place: AgentPlace,
  steps: readonly StepRecord[],
  context: EffectContext,
): Promise<JsonObject> {
  const request = modelRequest(place, readHistory(steps));
  const provider = context.models.providerFor({ model: request.model, configurable: place.configurable });
  if (provider === undefined) {
    throw new NodeFailure(
      'provider_unavailable',
      'This host has no language model. On a test host, a test key may name one in configurable.mockProvider.',
    );
  }
  const {
    text,
    model,
    finishReason,
    usage,
    toolCalls = [],
    reasoning,
  } = await provider.call(request, context);
  if (toolCalls.length > MAX_CALLS) {
    const message = `The model wants ${toolCalls.length} tool calls in one turn; the limit is ${MAX_CALLS}.`;
    throw new NodeFailure('model_reply_invalid', message, { retryable: true });
  }
  return {
    provider: provider.id,
    model,
    text,
    finishReason,
    usage: tokensOf(usage),
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
    ...(reasoning !== undefined && { reasoning }),
  };
}
