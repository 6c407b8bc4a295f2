import type { ClientSchema, Json } from '@weft/protocol';
import { type EffectContext, type NodeEvent, NodeFailure } from '../../model/node-type.ts';
import {
  closingMeta,
  type ModelContext,
  type ModelMessage,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
} from '../../ports/models.ts';
import { readJsonAnswer } from './json-answer.ts';
import { untrusted } from './untrusted-text.ts';

export interface StructuredAnswer {
  readonly reply: ModelReply;
  readonly value: Json;
  readonly events: readonly NodeEvent[];
}

export interface StructuredRequest {
  readonly nodeId: string;
  readonly provider: ModelProvider;
  readonly request: ModelRequest;
  readonly schema: ClientSchema;
  /** How often the model is asked to put right what it said. */
  readonly maxRepairs: number;
}

/** Asks until the answer satisfies the schema, so often and no more. Nothing is streamed before it does. */
export async function structuredAnswer(
  { nodeId, provider, request, schema, maxRepairs }: StructuredRequest,
  context: EffectContext,
): Promise<StructuredAnswer> {
  const events: NodeEvent[] = [];
  const messages: ModelMessage[] = [...request.messages];
  for (let repairs = 0; ; repairs++) {
    const reply = await provider.call({ ...request, messages }, quiet(context, repairs));
    if (reply.finishReason === 'content_filter') throw refused(provider.id);
    if (reply.finishReason === 'length') throw truncated(provider.id);
    const answer = readJsonAnswer(reply.text, schema);
    if ('value' in answer) {
      context.emit({ chunk: reply.text, isLast: true, meta: closingMeta(reply) });
      return { reply, value: answer.value, events };
    }
    if (repairs === maxRepairs) throw misfit(answer.problem, repairs + 1);
    events.push({
      type: 'envelope.retry.attempted',
      payload: { nodeId, attempt: repairs + 1, reason: answer.reason, previousError: answer.problem },
    });
    messages.push(
      { role: 'assistant', text: reply.text },
      { role: 'user', text: repairPrompt(answer.problem) },
    );
  }
}

/** A repair is another request: under the same key a provider might repeat its first answer. */
function quiet(context: EffectContext, repairs: number): ModelContext {
  const { signal, invocationId, egress, secrets } = context;
  return {
    signal,
    egress,
    secrets,
    invocationId: repairs === 0 ? invocationId : `${invocationId}-repair-${repairs}`,
    emit: () => undefined,
    holdsClaim: () => context.holdsClaim(),
  };
}

function repairPrompt(problem: string): string {
  return `Your answer does not satisfy the schema.\n${untrusted(problem, 'validator')}\nAnswer again, with JSON that satisfies the schema and nothing else.`;
}

function refused(provider: string): NodeFailure {
  return new NodeFailure('envelope_refusal', 'The model refused to answer.', { details: { provider } });
}

function truncated(provider: string): NodeFailure {
  return new NodeFailure(
    'envelope_truncation_unrecoverable',
    'The answer was cut off before it was whole. Raise config.maxTokens, or ask for less.',
    { details: { provider } },
  );
}

function misfit(problem: string, attempts: number): NodeFailure {
  return new NodeFailure(
    'envelope_invalid',
    `The answer of the model did not satisfy config.outputSchema, ${attempts} times: ${problem}`,
    { details: { attempts } },
  );
}
