import type { GatheredChunks } from './gathered-chunks.ts';

/**
 * The text of an answer on its way to those who read along. Most of it is told as it stands in the events; the library reads it later, and says it
 * again. What it says first is not told before: it may be about what came earlier.
 */
export interface LiveText {
  /** False when the library has not yet said all that it was given: then it has to be given this, too. */
  tell(text: string): boolean;
  /** Part of an event that the library is given now. */
  given(text: string): void;
  /** By the library. */
  said(text: string): void;
}

export function createLiveText(chunks: GatheredChunks): LiveText {
  // In characters. A library that leaves out or adds some is behind for ever, and all that it says is told.
  let given = 0;
  let said = 0;
  /** Told, and not said yet. */
  let ahead = 0;
  return {
    tell(text) {
      if (said !== given) return false;
      ahead += text.length;
      chunks.add(text);
      chunks.flush();
      return true;
    },
    given(text) {
      given += text.length;
    },
    said(text) {
      said += text.length;
      const known = Math.min(ahead, text.length);
      ahead -= known;
      if (known < text.length) chunks.add(text.slice(known));
    },
  };
}
