import type { Usage } from '@weft/engine';
import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { AnswerFormat, Piece } from './answer-formats.ts';

/** More than any provider puts into one event: without an end by then, this is no stream of events. */
const MOST_OPEN = 1024 * 1024;
const BETWEEN = /\r?\n\r?\n/;

/**
 * The server-sent events of an answer, as few as say the same: pieces of text that follow each other become one. What a library makes of an
 * event costs it about as much as the host needs to record it, so that fewer events are the cheapest way to be quick.
 */
export interface CondensedEvents {
  /** The whole events up to here that were not given yet. */
  take(text: string): string;
  /** What is left of a stream that has ended. */
  rest(): string;
  /** By the word of the provider; undefined while it has said nothing. */
  usage(): Usage | undefined;
}

/** Two pieces are one when their events differ in nothing but the text, and in what only the last one is asked for. */
interface Open {
  readonly piece: Piece;
  readonly event: JsonObject;
  readonly head: string;
  readonly likeness: string;
  /** As it came, while it is alone. */
  text: string | undefined;
}

export function condenseEvents(format: AnswerFormat): CondensedEvents {
  let held = '';
  let said: Partial<Usage> | undefined;

  function read(text: string): Open | undefined {
    const lines = text.split(/\r?\n/);
    const data = lines.filter((line) => line.startsWith('data:'));
    const event = data.length === 1 ? parsed((data[0] ?? '').slice('data:'.length)) : undefined;
    if (event === undefined) return undefined;
    const usage = format.usageIn(event);
    if (usage !== undefined) said = { ...said, ...usage };
    const piece = format.pieceIn(event);
    if (piece === undefined) return undefined;
    const head = lines.filter((line) => line !== '' && !line.startsWith('data:')).join('\n');
    return { piece, event, head, likeness: head + likenessOf(event, piece), text };
  }

  function condense(texts: readonly string[]): string {
    const kept: (Open | string)[] = [];
    for (const text of texts) {
      if (text === '') continue;
      const open = read(text);
      const last = kept.at(-1);
      if (open === undefined) kept.push(text);
      else if (typeof last === 'object' && last.likeness === open.likeness)
        kept[kept.length - 1] = joined(last, open);
      else kept.push(open);
    }
    return kept.map((each) => `${typeof each === 'string' ? each : written(each)}\n\n`).join('');
  }

  return {
    take(text) {
      held += text;
      const end = Math.max(held.lastIndexOf('\n\n') + 2, held.lastIndexOf('\n\r\n') + 3);
      if (end < 3) return held.length > MOST_OPEN ? this.rest() : '';
      const whole = held.slice(0, end);
      held = held.slice(end);
      return condense(whole.split(BETWEEN));
    },
    rest() {
      const rest = held;
      held = '';
      return rest;
    },
    usage() {
      if (said === undefined) return undefined;
      const { promptTokens = 0, completionTokens = 0 } = said;
      return { ...said, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
    },
  };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function likenessOf(event: JsonObject, { holder, name }: Piece): string {
  const { created: _at, obfuscation: _noise, usage: _usage, usageMetadata: _tokens, ...rest } = event;
  const text = holder[name] ?? '';
  holder[name] = '';
  const likeness = JSON.stringify(rest);
  holder[name] = text;
  return `${name} ${likeness}`;
}

function joined(first: Open, second: Open): Open {
  const { holder, name } = second.piece;
  holder[name] = `${String(first.piece.holder[first.piece.name])}${String(holder[name])}`;
  return { ...second, text: undefined };
}

function written({ text, head, event }: Open): string {
  return text ?? `${head === '' ? '' : `${head}\n`}data: ${JSON.stringify(event)}`;
}
