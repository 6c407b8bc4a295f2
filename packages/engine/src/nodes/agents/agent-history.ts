import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { StepRecord } from '../../model/node-type.ts';
import type { ModelToolCall, Usage } from '../../ports/models.ts';
import type { Tool } from '../../ports/tools.ts';
import { ENVELOPES_PER_TURN } from './envelopes.ts';

/** What an agent knows, read from the steps on record: the tools it was offered, and its turns with their calls. */
export interface AgentHistory {
  readonly list: StepRecord | undefined;
  /** What was composed from templates. */
  readonly prompts: StepRecord | undefined;
  readonly tools: readonly ListedTool[];
  readonly turns: readonly Turn[];
}

export interface ListedTool extends Tool {
  /** Absent: of an MCP server. */
  readonly source?: 'node' | 'workflow';
  /** Empty where it is of none. */
  readonly server: string;
}

/** As people and logs call it. */
export function labelOf({ source, server, name }: Pick<ListedTool, 'source' | 'server' | 'name'>): string {
  return source === undefined ? `${server}/${name}` : `${source}:${name}`;
}

export interface Turn {
  readonly number: number;
  readonly record: StepRecord;
  readonly text: string;
  readonly reasoning: string;
  readonly provider: string;
  readonly model: string;
  readonly finishReason: string;
  readonly usage: Usage;
  readonly calls: readonly Call[];
  /** What people have answered to its envelopes, by their position. */
  readonly answers: ReadonlyMap<number, JsonObject>;
}

export interface Call {
  /** Of its step; with the node's key, the id of the call in events. */
  readonly id: string;
  /** As the model gave it. */
  readonly asked: ModelToolCall;
  readonly record: StepRecord | undefined;
  readonly approval: StepRecord | undefined;
}

export const TOOLS_STEP = 'tools';
export const PROMPTS_STEP = 'prompts';
/** What a person says of an answer that was not sure enough. */
export const DOUBT_STEP = 'doubt';
export const turnStep = (turn: number): string => `turn-${turn}`;
const callStep = (turn: number, index: number): string => `${turnStep(turn)}.call-${index}`;
export const approvalStep = (call: string): string => `${call}.approval`;
export const questionStep = (turn: number, index: number): string => `${turnStep(turn)}.ask-${index}`;

export function readHistory(history: readonly StepRecord[]): AgentHistory {
  const byId = new Map(history.map((step) => [step.id, step]));
  const list = byId.get(TOOLS_STEP);
  const prompts = byId.get(PROMPTS_STEP);
  const turns: Turn[] = [];
  for (let number = 1; ; number += 1) {
    const record = byId.get(turnStep(number));
    if (record === undefined) return { list, prompts, tools: toolsIn(list), turns };
    turns.push(turnOf(number, record, byId));
  }
}

function turnOf(number: number, record: StepRecord, byId: ReadonlyMap<string, StepRecord>): Turn {
  const { text, reasoning, provider, model, finishReason, usage, toolCalls } = record.result ?? {};
  const asked = (Array.isArray(toolCalls) ? toolCalls.filter(isJsonObject) : []).map(askedCall);
  return {
    number,
    record,
    text: textOf(text),
    reasoning: textOf(reasoning),
    provider: textOf(provider),
    model: textOf(model),
    finishReason: textOf(finishReason),
    usage: usageOf(isJsonObject(usage) ? usage : {}),
    calls: asked.map((call, index) => {
      const id = callStep(number, index);
      return { id, asked: call, record: byId.get(id), approval: byId.get(approvalStep(id)) };
    }),
    answers: answersTo(number, byId),
  };
}

function answersTo(turn: number, byId: ReadonlyMap<string, StepRecord>): Map<number, JsonObject> {
  const answers = new Map<number, JsonObject>();
  for (let index = 0; index < ENVELOPES_PER_TURN; index += 1) {
    const answer = byId.get(questionStep(turn, index))?.result;
    if (answer !== undefined) answers.set(index, answer);
  }
  return answers;
}

function askedCall({ id, name, arguments: given }: JsonObject): ModelToolCall {
  return { id: textOf(id), name: textOf(name), arguments: textOf(given) };
}

function toolsIn(list: StepRecord | undefined): ListedTool[] {
  const tools = list?.result?.['tools'];
  return Array.isArray(tools) ? (tools as unknown as ListedTool[]) : [];
}

function usageOf({ promptTokens, completionTokens, totalTokens }: JsonObject): Usage {
  return {
    promptTokens: Number(promptTokens ?? 0),
    completionTokens: Number(completionTokens ?? 0),
    totalTokens: Number(totalTokens ?? 0),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
