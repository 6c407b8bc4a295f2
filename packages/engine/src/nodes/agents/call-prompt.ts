import { type ClientSchema, isJsonObject, type Json, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import {
  closingMeta,
  type ModelContext,
  type ModelImage,
  type ModelMessage,
  type ModelRequest,
  tokensOf,
} from '../../ports/models.ts';
import {
  type EffectContext,
  type EffectInput,
  type NodeEvent,
  type NodeResult,
  type StepMove,
  type StepRecord,
  type StepRequest,
  type StepsNodeType,
} from '../../model/node-type.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { checkSchema } from '../config/schema-in-config.ts';
import { callingTool, MCP_CONFIG } from '../tools/tool-call.ts';
import { PROMPTS_STEP, readHistory, type Turn } from './agent-history.ts';
import { envelopeNotes } from './agent-transcript.ts';
import { afterAnswer, roomFor, toldAnswer } from './after-answer.ts';
import { answerEvents } from './answer-events.ts';
import { type AnswerRules, answerRules, MOST_ROUNDS, readAnswer, readAnswers } from './answer.ts';
import { askModel, modelReply, recorded, turnRequest } from './model-turn.ts';
import { imagesIn, loadImages } from './prompt-images.ts';
import { stepFailure } from './step-failure.ts';
import {
  COMPOSING,
  type ComposedPrompts,
  composeTemplates,
  hasPromptRefs,
  PROMPT_REFS,
  refuseBoth,
  tellComposed,
} from './prompt-refs.ts';
import { untrusted, UNTRUSTED_NOTE } from './untrusted-text.ts';

const optional = Type.Optional;

/**
 * Asks a model, and again where its answer cannot be used or is a question to a person. Every turn is a step, whose request is on record
 * by its digest and whose outcome is before anything uses it.
 */
export const callPromptNode: StepsNodeType = {
  kind: 'steps',
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
    maxRepairs: optional(Type.Integer({ minimum: 0, maximum: MOST_ROUNDS })),
    envelopes: optional(Type.Boolean()),
    mcp: optional(MCP_CONFIG),
    expectsStreaming: optional(Type.Boolean()),
  }),
  outputPorts: ['output', 'text', 'value', 'model', 'finishReason', 'usage', 'toolCalls', 'error'],
  branches: ['output', 'value', 'error'],
  asksModel: true,
  variant: ({ mcp }) => (mcp === undefined ? undefined : TOOL_CALL),
  // What a template makes of which ports is known when it is composed.
  dependsOn: (config) => (hasPromptRefs(config) ? undefined : ['prompt', 'system', 'input', 'images']),
  prepare: (config, tools) => {
    if (['promptId', 'prompt', 'userPromptRef'].every((field) => config[field] === undefined)) {
      tools.refuse('', 'There is nothing to ask: give "prompt", "userPromptRef", "promptId" or "mcp".');
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
  next(given, steps) {
    const { prompts, turns } = readHistory(steps);
    if (prompts === undefined && hasPromptRefs(given.config)) return { steps: [COMPOSING] };
    if (prompts?.error !== undefined) return { failure: stepFailure(prompts) };
    const input = withPrompts(given, prompts);
    const turn = turns.at(-1);
    if (turn === undefined)
      return { steps: [nextTurn(input, turns)], events: tellComposed(given, prompts, steps) };
    if (turn.record.error !== undefined) return { failure: stepFailure(turn.record) };
    const hasCalls = turn.calls.length > 0;
    const move = hasCalls ? done(turn, turn.text, rulesOf(input)) : afterTurn(input, turns, turn);
    return { ...move, events: [...told(input, turns, turn, steps), ...(move.events ?? [])] };
  },
  async perform(given, context) {
    if (given.step.id === PROMPTS_STEP) return composeTemplates(given, context);
    const { prompts, turns } = readHistory(given.step.history);
    const input = withPrompts(given, prompts);
    const images = await loadImages(imagesIn(input.inputs), context.artifacts);
    const asked = requestOf(input, turns, images);
    const rules = rulesOf(input);
    if (rules.schema === undefined) return askModel(asked, input.configurable, context.models, context);
    return askQuietly(asked, input, rules, context);
  },
};

/** With `mcp` no model is asked: the node calls the tool it names. */
const TOOL_CALL = callingTool(callPromptNode);

/** With what templates say in place of the references to them. */
function withPrompts(
  { nodeId, config, inputs, configurable, prepared }: PromptPlace,
  prompts: StepRecord | undefined,
): PromptPlace {
  if (prompts?.result === undefined) return { nodeId, config, inputs, configurable, prepared };
  const { system, user, ports } = prompts.result as JsonObject & ComposedPrompts;
  const rest = Object.entries(inputs).filter(([port]) => !ports.includes(port));
  return {
    nodeId,
    configurable,
    prepared,
    inputs: Object.fromEntries(rest),
    config: {
      ...config,
      ...(system !== undefined && { system: joined(config['system'], system) }),
      ...(user !== undefined && { prompt: joined(user, config['prompt']) }),
    },
  };
}

/** Examples of the library may stand before a prompt of the node, and its schema hints behind what it says. */
function joined(...texts: readonly (Json | undefined)[]): string {
  return texts.filter((each) => typeof each === 'string').join('\n\n');
}

/** Nothing is streamed before the answer is known to fit. */
async function askQuietly(
  asked: ModelRequest,
  { configurable }: PromptPlace,
  rules: AnswerRules,
  context: EffectContext,
): Promise<JsonObject> {
  const reply = await modelReply(asked, configurable, context.models, quiet(context));
  if (readAnswer({ ...reply, number: 0 }, rules).type === 'answer') {
    context.emit({ chunk: reply.text, isLast: true, meta: closingMeta(reply) });
  }
  return recorded(reply);
}

function quiet(context: EffectContext): ModelContext {
  const { signal, invocationId, egress, secrets } = context;
  return {
    signal,
    invocationId,
    egress,
    secrets,
    emit: () => undefined,
    holdsClaim: () => context.holdsClaim(),
  };
}

/** Images are recorded by their ids: an artifact never changes. */
function nextTurn(input: PromptPlace, turns: readonly Turn[]): StepRequest {
  return turnRequest(turns.length + 1, requestOf(input, turns, []), imagesIn(input.inputs));
}

/** A turn is recorded once, when it has ended, and not again with the answer to one of its questions. */
function told(
  { nodeId, config, prepared }: PromptPlace,
  turns: readonly Turn[],
  turn: Turn,
  steps: readonly StepRecord[],
): NodeEvent[] {
  if (steps.at(-1)?.id !== turn.record.id) return [];
  const verdict = readAnswers(turns, rulesOf({ config, prepared })).get(turn.number);
  return answerEvents(nodeId, turn, verdict);
}

function afterTurn(input: PromptPlace, turns: readonly Turn[], turn: Turn): StepMove {
  const rules = rulesOf(input);
  const after = afterAnswer(input.nodeId, turns, rules);
  switch (after.type) {
    case 'answer':
      return done(turn, after.value, rules);
    // Where text will do, a reader may look at why it ended.
    case 'refusal':
      return rules.schema === undefined ? done(turn, turn.text, rules) : after;
    case 'reported':
      return { outputs: { ...partsOf(turn), error: after.error } };
    case 'again': {
      const { events } = after;
      return { steps: [nextTurn(input, turns)], events };
    }
    default:
      return after;
  }
}

function done(turn: Turn, output: Json, { schema }: AnswerRules): NodeResult {
  return { outputs: { output, ...partsOf(turn), ...(schema !== undefined && { value: output }) } };
}

function partsOf({ text, model, finishReason, usage, calls }: Turn): JsonObject {
  return {
    text,
    model,
    finishReason,
    usage: tokensOf(usage),
    ...(calls.length > 0 && { toolCalls: calls.map(({ asked }) => ({ ...asked })) }),
  };
}

type PromptPlace = Pick<EffectInput, 'nodeId' | 'config' | 'inputs' | 'configurable' | 'prepared'>;

function rulesOf({ config, prepared }: Pick<PromptPlace, 'config' | 'prepared'>): AnswerRules {
  return answerRules(config, prepared as ClientSchema | undefined);
}

/** The run's options go before what the node says, and a prompt on the input port before the one in the config. */
function requestOf(place: PromptPlace, turns: readonly Turn[], images: readonly ModelImage[]): ModelRequest {
  const { config, inputs, configurable } = place;
  const verdicts = readAnswers(turns, rulesOf(place));
  const model = text(configurable['ai.model'] ?? configurable['model'] ?? config['model']);
  const temperature = configurable['temperature'] ?? config['temperature'];
  const maxTokens = roomFor(configurable['maxTokens'] ?? config['maxTokens'], turns, verdicts);
  const { outputSchema, envelopes } = config;
  const later = turns.flatMap((turn) => {
    const verdict = verdicts.get(turn.number);
    return verdict === undefined ? [] : toldAnswer(turn, verdict);
  });
  return {
    messages: [...messagesOf(config, inputs, images), ...later],
    ...(model !== undefined && { model }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(isJsonObject(outputSchema) && envelopes !== true && { outputSchema }),
  };
}

/** With a prompt, other inputs are data: they stand between marks that are explained to the model. */
function messagesOf(config: JsonObject, inputs: JsonObject, images: readonly ModelImage[]): ModelMessage[] {
  const prompt = inputs['prompt'] ?? config['prompt'];
  const data = inputs['input'];
  const system = text(inputs['system'] ?? config['system']);
  const isData = prompt !== undefined && data !== undefined;
  const notes = [isData ? UNTRUSTED_NOTE : undefined, ...envelopeNotes(config)];
  const instructions = [system, ...notes].filter((part) => part !== undefined);
  const asked = asText(prompt ?? data ?? config['promptId'] ?? '');
  const examples = Array.isArray(config['examples']) ? config['examples'].filter(isJsonObject) : [];
  return [
    ...(instructions.length === 0 ? [] : [{ role: 'system' as const, text: instructions.join('\n\n') }]),
    ...examples.flatMap(({ user, assistant }) => [
      { role: 'user' as const, text: String(user) },
      { role: 'assistant' as const, text: String(assistant) },
    ]),
    {
      role: 'user',
      text: isData ? `${asked}\n\n${untrusted(asText(data), 'input')}` : asked,
      ...(images.length > 0 && { images }),
    },
  ];
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
