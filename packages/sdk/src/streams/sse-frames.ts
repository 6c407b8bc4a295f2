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
    // What was left over is known to have no line end, unless its last character is half of one.
    const lines = lineEnds(text, Math.max(0, rest.length - 1));
    let start = 0;
    for (let end = lines.next(); end !== undefined; end = lines.next()) {
      takeLine(text.slice(start, end.at), frames);
      start = end.next;
    }
    rest = text.slice(start);
    return frames;
  };
}

interface LineEnd {
  readonly at: number;
  /** Where the next line begins. */
  readonly next: number;
}

/** Each search looks at a character once, however long the lines and however many there are. */
function lineEnds(text: string, from: number): { next(): LineEnd | undefined } {
  let [lf, cr] = [text.indexOf('\n', from), text.indexOf('\r', from)];
  return {
    next() {
      if (lf < 0 && cr < 0) return undefined;
      const isCr = cr >= 0 && (lf < 0 || cr < lf);
      const at = isCr ? cr : lf;
      // A \r that ends the chunk may be half of \r\n; the next chunk shows it.
      if (isCr && at + 1 === text.length) return undefined;
      const next = isCr && lf === at + 1 ? at + 2 : at + 1;
      if (lf >= 0 && lf < next) lf = text.indexOf('\n', next);
      if (cr >= 0 && cr < next) cr = text.indexOf('\r', next);
      return { at, next };
    },
  };
}
