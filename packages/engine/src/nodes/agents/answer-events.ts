import type { NodeEvent } from '../../model/node-type.ts';
import type { Turn } from './agent-history.ts';
import type { Verdict } from './answer.ts';
import type { Envelope } from './envelopes.ts';

/** Events about the end of a turn. They hold nothing of its text. */
export function answerEvents(nodeId: string, turn: Turn, verdict: Verdict | undefined): NodeEvent[] {
  const { provider, model, finishReason, text, usage } = turn;
  const events: NodeEvent[] = [];
  if (finishReason === 'content_filter') {
    events.push({ type: 'envelope.refusal', payload: { nodeId, provider, model } });
  }
  if (finishReason === 'length') {
    events.push({
      type: 'envelope.truncated',
      payload: {
        nodeId,
        provider,
        model,
        stopReason: 'max_tokens',
        partialPayloadAvailable: text !== '',
        outputTokenCount: usage.completionTokens,
      },
    });
  }
  if (verdict?.isFenced === true) {
    events.push({ type: 'envelope.recovery.applied', payload: { nodeId, path: 'markdown-fence' } });
  }
  if (verdict?.type === 'envelopes') events.push(...verdict.envelopes.flatMap((each) => logOf(nodeId, each)));
  return events;
}

/** A clarification is recorded as its question. A report is no failure: the model has said what it cannot do. */
function logOf(nodeId: string, { type, payload, correlationId, isRepeated }: Envelope): NodeEvent[] {
  if (isRepeated || type === 'clarification.request') return [];
  const fields = { envelope: type, correlationId };
  if (type === 'error') {
    const { code, message } = payload;
    const text = `The model reports ${code}: ${message}`;
    return [{ type: 'log.appended', payload: { level: 'error', nodeId, message: text, fields } }];
  }
  const text = type === 'schema.request' ? 'The model asks for' : 'The model has seen';
  const message = `${text} the schema of ${payload.envelopeType}.`;
  return [{ type: 'log.appended', payload: { level: 'debug', nodeId, message, fields } }];
}
