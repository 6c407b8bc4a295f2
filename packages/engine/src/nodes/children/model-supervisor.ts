import { isJsonObject, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import {
  NodeFailure,
  type NodeInput,
  type NodeResult,
  type StepInput,
  type StepMove,
  type StepsNodeType,
} from '../../model/node-type.ts';
import { type PreparedAgent, NO_TOOL_PATTERNS } from '../agents/agent-config.ts';
import { tellLast } from '../agents/agent-events.ts';
import { type AgentHistory, DOUBT_STEP, readHistory, turnStep } from '../agents/agent-history.ts';
import { type AgentPlace, modelRequest, rulesOf } from '../agents/agent-transcript.ts';
import { afterAnswer } from '../agents/after-answer.ts';
import { askModel, thinkingAloud, turnRequest } from '../agents/model-turn.ts';
import { stepFailure } from '../agents/step-failure.ts';
import { checkSchema } from '../config/schema-in-config.ts';
import { agentIdOf, doubt } from '../people/confidence.ts';
import { decided, ratified } from './decided.ts';

/** `config.decideByModel` of the supervisor. */
export const DECIDE_BY_MODEL = Type.Object(
  {
    model: Type.Optional(nameOf({ minLength: 1, maxLength: 256 })),
    instructions: Type.String({ minLength: 1, maxLength: 65_536 }),
    prompt: Type.String({ minLength: 1, maxLength: 65_536 }),
    workers: Type.Array(
      Type.Object(
        {
          workflowId: nameOf({ minLength: 1, maxLength: 128 }),
          description: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 64 },
    ),
  },
  { additionalProperties: false },
);

interface ModelDecision {
  readonly instructions: string;
  readonly prompt: string;
  readonly model?: string;
  readonly workers: readonly { readonly workflowId: string; readonly description?: string }[];
}

/** A model that calls tools in place of a decision is asked again this often. */
const REPAIRS = 2;

/**
 * The supervisor that asks a language model what to do next. The turn is a step with its own durable outcome; only the workers that the
 * config lists can be chosen, whatever the model says.
 */
export function modelSupervisor(base: {
  readonly typeId: string;
  readonly title: string;
  readonly summary: string;
  readonly config: StepsNodeType['config'];
}): StepsNodeType {
  return {
    ...base,
    kind: 'steps',
    outputPorts: ['output', 'decision'],
    asksModel: true,
    dependsOn: () => ['prompt', 'input'],
    defaultTimeoutMs: 300_000,
    prepare: (config, tools): PreparedAgent => {
      const schema = schemaOf(modelDecision(config));
      checkSchema(tools, '/decideByModel/workers', schema);
      return { ...NO_TOOL_PATTERNS, outputSchema: tools.schemas.schema(schema) };
    },
    next(input, steps) {
      const history = readHistory(steps);
      const move = nextMove(input, history, steps.find(({ id }) => id === DOUBT_STEP)?.result);
      const events = tellLast(input, history, new Map(), steps, rulesOf(placeOf(input)));
      return { ...move, events: [...events, ...(move.events ?? [])] };
    },
    answered: (input, answer) => ratified(input, answer),
    perform(input, context) {
      const asked = modelRequest(placeOf(input), readHistory(input.step.history));
      const thinking = thinkingAloud(context, agentIdOf(input, 'agent'), input.configurable);
      return askModel(asked, input.configurable, context.models, thinking);
    },
  };
}

function nextMove(input: NodeInput, history: AgentHistory, answer: JsonObject | undefined): StepMove {
  if (answer !== undefined) return afterDoubt(input, answer);
  const turn = history.turns.at(-1);
  if (turn === undefined) return nextTurn(input, history);
  if (turn.record.error !== undefined) return { failure: stepFailure(turn.record) };
  if (turn.calls.length > 0) return afterCalls(input, history, turn.number);
  const after = afterAnswer(input.nodeId, history.turns, rulesOf(placeOf(input)));
  switch (after.type) {
    case 'answer':
      return afterTurn(input, after.value as JsonObject);
    case 'again': {
      const { events } = after;
      return { ...nextTurn(input, history), events };
    }
    case 'refusal':
    case 'failure':
      return after;
    default:
      throw new TypeError('The model of a supervisor sends no envelopes.');
  }
}

function nextTurn(input: NodeInput, history: AgentHistory): StepMove {
  const turn = turnRequest(history.turns.length + 1, modelRequest(placeOf(input), history));
  return { steps: [{ ...turn, onUnknownOutcome: 'repeat' }] };
}

/** It is offered no tools, and hears so. */
function afterCalls(input: NodeInput, history: AgentHistory, turn: number): StepMove {
  if (turn <= REPAIRS) return nextTurn(input, history);
  const message = `The model of ${turnStep(turn)} has given no decision: it calls tools.`;
  return { failure: new NodeFailure('model_reply_invalid', message) };
}

function afterTurn(input: NodeInput, decision: JsonObject): StepMove {
  const ask = doubt(input, agentIdOf(input, 'supervisor'), decision, decision['confidence']);
  return ask === undefined ? decided(input, decision) : { ask, step: DOUBT_STEP };
}

function afterDoubt(input: NodeInput, answer: JsonObject): NodeResult | StepMove {
  if (answer['decision'] !== undefined) return ratified(input, answer);
  return { failure: new NodeFailure('decision_rejected', 'The decision was rejected.') };
}

/** Asked as an agent without tools is. */
function placeOf({
  nodeId,
  config,
  inputs,
  prepared,
  configurable,
  agent,
}: NodeInput | StepInput): AgentPlace {
  const decision = modelDecision(config);
  const { prompt, model } = decision;
  const asked = {
    instructions: instructionsOf(decision),
    prompt,
    outputSchema: schemaOf(decision),
    envelopes: false,
    ...(model !== undefined && { model }),
  };
  return { nodeId, config: asked, inputs, prepared, configurable, agent };
}

export function modelDecision({ decideByModel }: JsonObject): ModelDecision {
  if (!isJsonObject(decideByModel)) throw new TypeError('The config has been held against its schema.');
  return decideByModel as unknown as ModelDecision;
}

function instructionsOf({ instructions, workers }: ModelDecision): string {
  const listed = workers.map(({ workflowId, description = '' }) => `- ${workflowId}: ${description}`);
  return [
    instructions,
    'You decide what happens next. Answer with one JSON object and nothing else:',
    '{"kind": "next-worker", "nextWorkerIds": [...]} to have workers run, one after the other;',
    '{"kind": "ask-user", "prompt": "..."} to ask a person;',
    '{"kind": "terminate", "reason": "..."} when the work is done.',
    'Give "confidence", from 0 to 1, with next-worker and terminate.',
    `The workers are:\n${listed.join('\n')}`,
  ].join('\n');
}

const closed = { additionalProperties: false };
const confidence = { type: 'number', minimum: 0, maximum: 1 };

function schemaOf({ workers }: ModelDecision): JsonObject {
  const ids = workers.map(({ workflowId }) => workflowId);
  return {
    anyOf: [
      {
        type: 'object',
        required: ['kind', 'nextWorkerIds'],
        properties: {
          kind: { const: 'next-worker' },
          nextWorkerIds: { type: 'array', minItems: 1, maxItems: 64, items: { enum: ids } },
          confidence,
        },
        ...closed,
      },
      {
        type: 'object',
        required: ['kind', 'prompt'],
        properties: {
          kind: { const: 'ask-user' },
          prompt: { type: 'string', minLength: 1, maxLength: 8192 },
        },
        ...closed,
      },
      {
        type: 'object',
        required: ['kind'],
        properties: {
          kind: { const: 'terminate' },
          reason: { type: 'string', minLength: 1, maxLength: 8192 },
          confidence,
        },
        ...closed,
      },
    ],
  };
}
