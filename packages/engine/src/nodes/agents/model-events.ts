import type { NodeEvent } from '../../model/node-type.ts';
import type { ModelProvider, ModelReply } from '../../ports/models.ts';

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
