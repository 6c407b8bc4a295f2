import type { NodeEvent } from '../../model/node-type.ts';
import type { ModelProvider, ModelReply } from '../../ports/models.ts';

/** What a call has used, as the provider counts it. */
export function usageEvent({ id }: ModelProvider, reply: ModelReply, nodeId: string): NodeEvent {
  const { provider = id, model, usage } = reply;
  return {
    type: 'provider.usage',
    payload: {
      provider,
      model,
      inputTokens: usage.promptTokens,
      outputTokens: usage.completionTokens,
      totalTokens: usage.totalTokens,
      nodeId,
    },
  };
}

/** A refusal and an answer that was cut off are facts beside the answer. */
export function stopEvents({ id }: ModelProvider, reply: ModelReply, nodeId: string): NodeEvent[] {
  const { provider = id, model, finishReason, usage } = reply;
  if (finishReason === 'content_filter') {
    return [{ type: 'envelope.refusal', payload: { nodeId, provider, model } }];
  }
  if (finishReason !== 'length') return [];
  return [
    {
      type: 'envelope.truncated',
      payload: {
        nodeId,
        provider,
        model,
        stopReason: 'max_tokens',
        partialPayloadAvailable: reply.text !== '',
        outputTokenCount: usage.completionTokens,
      },
    },
  ];
}
