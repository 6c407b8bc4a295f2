/** More than any task that a host offers; a line without an end is no message. */
const LONGEST_LINE = 32 * 1024 * 1024;

/** The lines of a stream, as often as bytes arrive: all that are complete by then. Each part of a line is looked at once. */
export async function* messageLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let length = 0;
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n');
    if (end < 0) {
      begun.push(text);
      length += text.length;
      if (length > LONGEST_LINE)
        throw new Error(`The host has sent a line of more than ${LONGEST_LINE} characters.`);
      continue;
    }
    begun.push(text.slice(0, end));
    const lines = begun.join('').split('\n');
    begun = [text.slice(end + 1)];
    length = text.length - end - 1;
    yield lines;
  }
}
