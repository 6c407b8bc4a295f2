import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { type EffectInput, NodeFailure } from '../../model/node-type.ts';
import type { ModelMessage, ModelRequest } from '../../ports/models.ts';
import type { PreparedAgent } from './agent-config.ts';
import { type AgentHistory, type Call, labelOf, type ListedTool, type Turn } from './agent-history.ts';
import { asOffered, offeredTools } from './offered-tools.ts';
import { type AnswerRules, answerRules, readAnswers, type Verdict } from './answer.ts';
import { roomFor, toldAnswer } from './after-answer.ts';
import { ENVELOPE_NOTE } from './envelopes.ts';
import { configOf } from './pack-agent.ts';
import { isToolError, planCall } from './tool-calls.ts';
import { untrusted, UNTRUSTED_NOTE } from './untrusted-text.ts';

/** What the model is asked in its next turn: a function of config, inputs and the steps on record. */

export type AgentPlace = Pick<
  EffectInput,
  'nodeId' | 'config' | 'inputs' | 'prepared' | 'configurable' | 'agent'
>;

const MAX_TRANSCRIPT = 2 * 1024 * 1024;

/** Throws NodeFailure when the conversation has grown beyond what is sent. */
export function modelRequest(place: AgentPlace, history: AgentHistory): ModelRequest {
  const { agent } = place.prepared as PreparedAgent;
  const { configurable, inputs } = place;
  const config = configOf(place.config, agent);
  const { outputSchema } = config;
  const { temperature } = configurable;
  const model = modelOf(place);
  const offered = offeredTools(history.tools);
  const verdicts = readAnswers(history.turns, rulesOf(place));
  const maxTokens = roomFor(configurable['maxTokens'], history.turns, verdicts);
  const later = history.turns.flatMap((turn) => said(turn, offered, place, verdicts.get(turn.number)));
  const messages = [...opening({ config, inputs }, history), ...later];
  checkLength(messages);
  return {
    messages,
    ...(model !== undefined && { model }),
    ...(model === undefined && agent !== undefined && { modelClass: agent.modelClass }),
    ...(offered.size > 0 && { tools: [...offered].map(asOffered) }),
    ...(isJsonObject(outputSchema) && config['envelopes'] !== true && { outputSchema }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}

export function rulesOf({ config, prepared }: Pick<AgentPlace, 'config' | 'prepared'>): AnswerRules {
  return answerRules(config, (prepared as PreparedAgent).outputSchema);
}

/** The run's options go before what the node says, so that a fork can ask another model from here on. */
export function modelOf({ config, configurable }: AgentPlace): string | undefined {
  const model = configurable['ai.model'] ?? configurable['model'] ?? config['model'];
  return typeof model === 'string' ? model : undefined;
}

function opening(
  { config, inputs }: Pick<AgentPlace, 'config' | 'inputs'>,
  { prompts }: AgentHistory,
): ModelMessage[] {
  const { system = config['instructions'] ?? '', user: composed, ports } = prompts?.result ?? {};
  const prompt = textOf(composed ?? inputs['prompt'] ?? config['prompt'] ?? '');
  // A template may have said where it stands.
  const data = Array.isArray(ports) && ports.includes('input') ? undefined : inputs['input'];
  const user =
    data === undefined ? prompt : `${prompt}\n\n${untrusted(textOf(data), 'input of the workflow')}`;
  return [
    {
      role: 'system',
      text: [textOf(system), UNTRUSTED_NOTE, ...envelopeNotes(config)].join('\n\n'),
    },
    { role: 'user', text: user },
  ];
}

/** Where the prompt explains envelopes, the provider must not enforce the schema: the prompt states it, too. */
export function envelopeNotes({ envelopes, outputSchema }: JsonObject): string[] {
  if (envelopes !== true) return [];
  return outputSchema === undefined
    ? [ENVELOPE_NOTE]
    : [
        `Answer with JSON that satisfies this schema and nothing else:\n${JSON.stringify(outputSchema)}`,
        ENVELOPE_NOTE,
      ];
}

/** A turn as later prompts repeat it. */
function said(
  turn: Turn,
  offered: ReadonlyMap<string, ListedTool>,
  place: AgentPlace,
  verdict: Verdict | undefined,
): ModelMessage[] {
  if (verdict !== undefined) return toldAnswer(turn, verdict);
  const prepared = place.prepared as PreparedAgent;
  const { text, calls } = turn;
  const assistant: ModelMessage = {
    role: 'assistant',
    text,
    ...(calls.length > 0 && { toolCalls: calls.map(({ asked }) => asked) }),
  };
  return [assistant, ...calls.map((call) => returned(call, offered, prepared))];
}

function returned(
  call: Call,
  offered: ReadonlyMap<string, ListedTool>,
  prepared: PreparedAgent,
): ModelMessage {
  const { id: callId, name } = call.asked;
  const planned = planCall(call, offered, prepared);
  if (planned.type !== 'call') return { role: 'tool', callId, name, text: planned.why, isError: true };
  const source = labelOf(planned.tool);
  const { result, error } = call.record ?? {};
  if (result === undefined) {
    const text = untrusted(`${error?.code ?? ''}: ${error?.message ?? ''}`, source);
    return { role: 'tool', callId, name, text, isError: true };
  }
  const text = untrusted(answerText(planned.tool, result), source);
  return { role: 'tool', callId, name, text, ...(isToolError(result) && { isError: true }) };
}

function answerText({ source }: ListedTool, result: JsonObject): string {
  if (source === undefined) return resultText(result);
  if (source === 'node') return JSON.stringify(result);
  const { childStatus, childError, output = {} } = result;
  return JSON.stringify(childStatus === 'completed' ? output : { status: childStatus, error: childError });
}

/** The text of a tool's answer; anything else is written as JSON. */
export function resultText({ content, structuredContent }: JsonObject): string {
  const parts = Array.isArray(content) ? content : [];
  const texts = parts.map((part) =>
    isJsonObject(part) && part['type'] === 'text' ? textOf(part['text'] ?? '') : JSON.stringify(part),
  );
  if (texts.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent);
  return texts.join('\n');
}

function checkLength(messages: readonly ModelMessage[]): void {
  const length = messages.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= MAX_TRANSCRIPT) return;
  throw new NodeFailure(
    'agent_transcript_too_large',
    `What the agent has said and heard takes ${length} characters; the limit is ${MAX_TRANSCRIPT}. Give it fewer turns, or tools that answer with less.`,
    { details: { limit: MAX_TRANSCRIPT, observed: length } },
  );
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
