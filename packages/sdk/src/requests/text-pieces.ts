import { ConnectionError } from './errors.ts';

/** The text of a long answer as it arrives, so that it is never held in memory as a whole. */
export async function* textPieces(
  response: Response,
  origin: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const part = await reader.read();
      if (part.done) return;
      yield decoder.decode(part.value, { stream: true });
    }
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ConnectionError(origin, 'The connection broke while the answer was read', { cause });
  } finally {
    await reader.cancel().catch(() => undefined); // already broken is as good as closed
  }
}
