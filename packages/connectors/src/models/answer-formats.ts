import type { Usage } from '@weft/engine';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** What the events of a streamed answer say, in the words of one wire format. */
export interface AnswerFormat {
  /** The place of the text, where the event brings a piece of it and nothing else. */
  pieceIn(event: JsonObject): Piece | undefined;
  /** Tokens of the answer so far; only what is said. */
  usageIn(event: JsonObject): Partial<Usage> | undefined;
}

export interface Piece {
  readonly holder: { [name: string]: Json };
  readonly name: string;
  /** Of the answer itself, and not of what is thought before it, or of what a tool is called with. */
  readonly isAnswer: boolean;
}

export const OPENAI_ANSWERS: AnswerFormat = {
  pieceIn({ choices }) {
    const choice = onlyOne(choices);
    return pieceOf(choice?.['delta'], 'content', ['reasoning_content', 'reasoning']);
  },
  usageIn({ usage }) {
    if (!isJsonObject(usage)) return undefined;
    const details = usage['prompt_tokens_details'];
    return {
      ...count('promptTokens', usage['prompt_tokens']),
      ...count('completionTokens', usage['completion_tokens']),
      ...(isJsonObject(details) && count('cacheReadTokens', details['cached_tokens'])),
    };
  },
};

/** The beginning of an answer says what the question took; what was said so far comes with the end, and before it where the server likes. */
export const ANTHROPIC_ANSWERS: AnswerFormat = {
  pieceIn: ({ type, delta }) =>
    type === 'content_block_delta' ? pieceOf(delta, 'text', ['thinking', 'partial_json']) : undefined,
  usageIn({ message, usage: later }) {
    const usage = isJsonObject(message) ? message['usage'] : later;
    if (!isJsonObject(usage)) return undefined;
    const { input_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
    const prompt = [input_tokens, read, written].filter((tokens) => typeof tokens === 'number');
    return {
      ...(typeof input_tokens === 'number' &&
        count(
          'promptTokens',
          prompt.reduce((sum, tokens) => sum + tokens, 0),
        )),
      ...count('completionTokens', usage['output_tokens']),
      ...count('cacheReadTokens', read),
      ...count('cacheWriteTokens', written),
    };
  },
};

export const GEMINI_ANSWERS: AnswerFormat = {
  pieceIn({ candidates }) {
    const content = onlyOne(candidates)?.['content'];
    return pieceOf(isJsonObject(content) ? onlyOne(content['parts']) : undefined, 'text', []);
  },
  usageIn({ usageMetadata }) {
    if (!isJsonObject(usageMetadata)) return undefined;
    const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata;
    const said = [candidatesTokenCount, thoughtsTokenCount].filter((tokens) => typeof tokens === 'number');
    return {
      ...count('promptTokens', promptTokenCount),
      ...(said.length > 0 &&
        count(
          'completionTokens',
          said.reduce((sum, tokens) => sum + tokens, 0),
        )),
      ...count('cacheReadTokens', usageMetadata['cachedContentTokenCount']),
    };
  },
};

/** Members without content of their own, next to the one that has it. */
const SILENT: ReadonlySet<string> = new Set(['role', 'type', 'thought']);

function pieceOf(holder: Json | undefined, answer: string, others: readonly string[]): Piece | undefined {
  if (!isJsonObject(holder)) return undefined;
  const said = Object.keys(holder).filter(
    (name) => !SILENT.has(name) && holder[name] !== null && holder[name] !== '',
  );
  const [name = ''] = said;
  const isAnswer = name === answer && holder['thought'] !== true;
  if (said.length !== 1 || typeof holder[name] !== 'string') return undefined;
  return name === answer || others.includes(name) ? { holder, name, isAnswer } : undefined;
}

function onlyOne(list: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(list) || list.length !== 1) return undefined;
  const [only] = list;
  return isJsonObject(only) ? only : undefined;
}

function count(name: keyof Usage, tokens: Json | undefined): Partial<Usage> {
  return typeof tokens === 'number' ? { [name]: tokens } : {};
}
