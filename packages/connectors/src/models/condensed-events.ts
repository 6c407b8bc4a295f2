import type { Usage } from '@weft/engine';
import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { AnswerFormat, Piece } from './answer-formats.ts';
import type { LiveText } from './live-text.ts';

/** More than any provider puts into one event: without an end by then, this is no stream of events. */
const MOST_OPEN = 1024 * 1024;
/** In characters: a library reads one event at a time, and others wait meanwhile. */
const MOST_KEPT = 64 * 1024;
const BETWEEN = /\r?\n\r?\n/;

/**
 * The server-sent events of an answer, as few as say the same: pieces of text that follow each other become one. What a library makes of an
 * event costs several times what the host needs to record it. So text that only continues the text before it is emitted at once, and kept for
 * the library until something else comes.
 */
export interface CondensedEvents {
  /** The whole events up to here that were not given yet, but for those that are kept. */
  take(text: string): string;
  /** What is kept, and what is left of a stream that has ended. */
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

/** Without `live` nothing is emitted at once. */
export function condenseEvents(format: AnswerFormat, live?: LiveText): CondensedEvents {
  let held = '';
  /** What text has to be like to continue what came last. */
  let continued: string | undefined;
  /** Emitted, and not given yet. */
  let kept: Open | undefined;
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

  function condense(texts: readonly string[]): (Open | string)[] {
    const few: (Open | string)[] = [];
    for (const text of texts) {
      if (text === '') continue;
      const open = read(text);
      const last = few.at(-1);
      if (open === undefined) few.push(text);
      else if (typeof last === 'object' && last.likeness === open.likeness)
        few[few.length - 1] = joined(last, open);
      else few.push(open);
    }
    return few;
  }

  /** True when it was all emitted. */
  function emit(few: readonly (Open | string)[]): boolean {
    const [only] = few;
    if (live === undefined || few.length !== 1 || typeof only !== 'object') return false;
    if (!only.piece.isAnswer || only.likeness !== continued || !live.emit(textOf(only))) return false;
    kept = kept === undefined ? only : joined(kept, only);
    return true;
  }

  function give(few: readonly (Open | string)[]): string {
    const all = kept === undefined ? few : [kept, ...few];
    kept = undefined;
    const last = few.at(-1);
    if (last !== undefined) continued = typeof last === 'object' ? last.likeness : undefined;
    for (const each of all) if (typeof each === 'object' && each.piece.isAnswer) live?.given(textOf(each));
    return all.map((each) => `${typeof each === 'string' ? each : written(each)}\n\n`).join('');
  }

  return {
    take(text) {
      held += text;
      const end = Math.max(held.lastIndexOf('\n\n') + 2, held.lastIndexOf('\n\r\n') + 3);
      if (end < 3) return held.length > MOST_OPEN ? this.rest() : '';
      const whole = held.slice(0, end);
      held = held.slice(end);
      const few = condense(whole.split(BETWEEN));
      if (!emit(few)) return give(few);
      return kept !== undefined && textOf(kept).length > MOST_KEPT ? give([]) : '';
    },
    rest() {
      const rest = give([]) + held;
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

function textOf({ piece: { holder, name } }: Open): string {
  return String(holder[name]);
}

function joined(first: Open, second: Open): Open {
  const { holder, name } = second.piece;
  holder[name] = textOf(first) + textOf(second);
  return { ...second, text: undefined };
}

function written({ text, head, event }: Open): string {
  return text ?? `${head === '' ? '' : `${head}\n`}data: ${JSON.stringify(event)}`;
}
