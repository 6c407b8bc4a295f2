/** One server-sent event, fields as they stood in the frame. */
export interface SseFrame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/**
 * Splits a text stream into frames. Feed it chunks as they come; a frame is returned once its blank line has arrived,
 * so a frame cut off by a broken connection is never seen. Line ends may be \n, \r\n or \r.
 */
export function createFrameParser(): (chunk: string) => SseFrame[] {
  let rest = '';
  let id: string | undefined;
  let event = '';
  let data: string[] = [];

  function takeLine(line: string, frames: SseFrame[]): void {
    if (line === '') {
      if (data.length > 0)
        frames.push({ id, event: event === '' ? 'message' : event, data: data.join('\n') });
      id = undefined;
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }

  return (chunk) => {
    const frames: SseFrame[] = [];
    const text = rest + chunk;
    let start = 0;
    for (;;) {
      const end = lineEnd(text, start);
      if (end === undefined) break;
      takeLine(text.slice(start, end.at), frames);
      start = end.next;
    }
    rest = text.slice(start);
    return frames;
  };
}

function lineEnd(text: string, from: number): { at: number; next: number } | undefined {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10) return { at, next: at + 1 };
    if (code !== 13) continue;
    // A \r that ends the chunk may be half of \r\n; the next chunk shows it.
    if (at + 1 === text.length) return undefined;
    return { at, next: text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1 };
  }
  return undefined;
}
