/** Server-sent events, both ends: the frames a host writes and the parser a client reads them with. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface SseFrame {
  readonly id?: string | number;
  readonly event: string;
  /** One line: JSON text has no raw line breaks. */
  readonly data: string;
}

export function sseFrame(frame: SseFrame): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`;
  return `${id}event: ${frame.event}\ndata: ${frame.data}\n\n`;
}

/** Keeps a connection open; carries no id, so it never moves a client's position. */
export function sseComment(text: string): string {
  return `:${text}\n\n`;
}

export interface SseEvent {
  /** The last id seen on the stream, also from earlier events; absent before the first. */
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

export interface SseParser {
  /** Takes decoded text, cut anywhere. */
  push(chunk: string): void;
}

/**
 * Reads as the HTML standard says: lines end in LF, CR or CRLF, a blank line dispatches, an event without data is
 * dropped, an unfinished event at the end of the stream is dropped too.
 *
 * 1. `rest` never holds a complete line.
 * 2. After a CR at the end of a chunk, an LF at the start of the next belongs to it.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  let rest = '';
  let started = false;
  let afterCarriageReturn = false;
  let lastId: string | undefined;
  let type = '';
  let data: string[] = [];

  function dispatch(): void {
    const event = {
      ...(lastId === undefined ? {} : { id: lastId }),
      event: type || 'message',
      data: data.join('\n'),
    };
    const hasData = data.length > 0;
    type = '';
    data = [];
    if (hasData) onEvent(event);
  }

  function takeField(name: string, value: string): void {
    if (name === 'event') type = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id' && !value.includes('\0')) lastId = value;
  }

  function takeLine(line: string): void {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return;
    if (colon === -1) return takeField(line, '');
    const value = line.slice(colon + 1);
    takeField(line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value);
  }

  /** Drops what belongs to something earlier: the byte order mark, or the LF of a CRLF that was cut in two. */
  function trimStart(chunk: string): string {
    let text = chunk;
    if (!started) {
      started = true;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    if (afterCarriageReturn && text !== '') {
      afterCarriageReturn = false;
      if (text.startsWith('\n')) text = text.slice(1);
    }
    return text;
  }

  return {
    push(chunk) {
      if (chunk === '') return;
      const text = trimStart(chunk);
      let lineStart = 0;
      for (let at = 0; at < text.length; at++) {
        const char = text.charCodeAt(at);
        if (char !== LINE_FEED && char !== CARRIAGE_RETURN) continue;
        const line = rest + text.slice(lineStart, at);
        rest = '';
        if (char === CARRIAGE_RETURN) {
          if (at + 1 === text.length) afterCarriageReturn = true;
          else if (text[at + 1] === '\n') at++;
        }
        lineStart = at + 1;
        takeLine(line);
      }
      rest += text.slice(lineStart);
    },
  };
}
