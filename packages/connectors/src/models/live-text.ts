import type { GatheredChunks } from './gathered-chunks.ts';

/**
 * The text of an answer on its way to those who read along. Most of it is emitted as it stands in the events; the library reads it later, and says
 * it again.
 */
export interface LiveText {
  /** False when the library has not yet said all that it was given: this comes after that, and has to be given to it, too. */
  emit(text: string): boolean;
  /** Part of an event that the library is given now. */
  given(text: string): void;
  /** By the library. */
  said(text: string): void;
}

export function createLiveText(chunks: GatheredChunks): LiveText {
  // In characters. A library that leaves out or adds some is behind for ever, and all that it says is emitted.
  let given = 0;
  let said = 0;
  /** Emitted, and not said yet. */
  let ahead = 0;
  return {
    emit(text) {
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
