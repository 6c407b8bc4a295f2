import { setTimeout as pause } from 'node:timers/promises';
import {
  closingMeta,
  type ModelContext,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type ModelToolCall,
  NodeFailure,
} from '@weft/engine';
import { gatherChunks } from './gathered-chunks.ts';
import { sampleOf } from './schema-sample.ts';

/**
 * A model that thinks nothing, for samples and tests that must work without a key. The same request gets the same answer:
 *
 * - lines `call TOOL {…}` in the last message of the user are tool calls, one a turn, where that tool is offered;
 * - then a line `say TEXT` is the answer; without one it is what the last tool returned, or the message itself;
 * - a line `think TEXT` is what it reasons before each turn;
 * - with a schema the answer is the smallest value that the schema describes.
 *
 * `slow` instead of any other name says a word every tenth of a second.
 */
export async function askMock(
  request: ModelRequest,
  model: string,
  context: ModelContext,
): Promise<ModelReply> {
  const answer = answerTo(request);
  const words = answer.text.split(/(?<=\s)/);
  const promptTokens = request.messages.reduce((sum, { text }) => sum + tokens(text), 0);
  const completionTokens = tokens(answer.text) + answer.toolCalls.length;
  const reply: ModelReply = {
    text: answer.text,
    model: `mock-${model}`,
    finishReason: answer.toolCalls.length > 0 ? 'tool_calls' : 'stop',
    usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
    ...(answer.toolCalls.length > 0 && { toolCalls: answer.toolCalls }),
    ...(answer.reasoning !== undefined && { reasoning: answer.reasoning }),
  };
  if (answer.reasoning !== undefined) context.onReasoning?.(answer.reasoning, true);
  const chunks = gatherChunks(context.emit);
  for (const word of words) {
    if (model === 'slow') await pause(WORD_MS, undefined, { signal: context.signal }).catch(stopped);
    chunks.add(word);
  }
  chunks.end(closingMeta(reply));
  return reply;
}

const WORD_MS = 100;
const CALL = /^\s*call\s+([\w.:/-]+)\s*(\{.*\})?\s*$/;
const SAY = /^\s*say\s+(.+)$/;
const THINK = /^\s*think\s+(.+)$/;

interface Answer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly reasoning?: string | undefined;
}

function answerTo({ messages, tools = [], outputSchema }: ModelRequest): Answer {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[at]?.text ?? '';
  const since = messages.slice(at + 1);
  const turn = since.filter(
    (message) => message.role === 'assistant' && message.toolCalls !== undefined,
  ).length;
  const next = callsIn(asked).filter(({ name }) => tools.some((tool) => tool.name === name))[turn];
  const reasoning = lineOf(asked, THINK);
  if (next !== undefined) return { text: '', toolCalls: [{ id: `call-${turn + 1}`, ...next }], reasoning };
  const text =
    outputSchema === undefined
      ? (lineOf(asked, SAY) ?? lastResult(since) ?? asked)
      : JSON.stringify(sampleOf(outputSchema));
  return { text, toolCalls: [], reasoning };
}

function callsIn(text: string): { readonly name: string; readonly arguments: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, name, given = '{}'] = CALL.exec(line) ?? [];
    return name === undefined ? [] : [{ name, arguments: given }];
  });
}

function lineOf(text: string, pattern: RegExp): string | undefined {
  for (const line of text.split('\n')) {
    const said = pattern.exec(line)?.[1];
    if (said !== undefined) return said;
  }
  return undefined;
}

function lastResult(messages: readonly ModelMessage[]): string | undefined {
  return messages.findLast(({ role }) => role === 'tool')?.text;
}

function tokens(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

function stopped(): never {
  throw new NodeFailure('provider_aborted', 'The call was stopped.', { retryable: true });
}
