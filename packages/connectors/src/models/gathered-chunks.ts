import type { JsonObject } from '@weft/protocol';
import type { ModelContext } from '@weft/engine';

/** Every piece of a stream is an event of the run: tokens are put together until one of these is reached. */
const MOST_MS = 50;
const MOST_CHARACTERS = 4 * 1024;
const HALF = /[\ud800-\udbff]$/;

export interface GatheredChunks {
  add(text: string): void;
  /** Emits what is left as the last piece. */
  end(meta: JsonObject): void;
  /** Emits what there is; no piece of it is the last. */
  flush(): void;
  readonly hasEmitted: boolean;
}

export function gatherChunks(emit: ModelContext['emit'], waitMs = MOST_MS): GatheredChunks {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  let hasEmitted = false;

  /** Half of a character stays for the next piece, unless none comes. */
  function take(isLast: boolean): string {
    clearTimeout(timer);
    timer = undefined;
    const kept = !isLast && HALF.test(text) ? 1 : 0;
    const taken = text.slice(0, text.length - kept);
    text = text.slice(text.length - kept);
    return taken.toWellFormed();
  }

  function flush(): void {
    const chunk = take(false);
    if (chunk === '') return;
    hasEmitted = true;
    emit({ chunk, isLast: false });
  }

  return {
    add(piece) {
      text += piece;
      if (text.length >= MOST_CHARACTERS) flush();
      else if (text !== '') timer ??= setTimeout(flush, waitMs);
    },
    end(meta) {
      hasEmitted = true;
      emit({ chunk: take(true), isLast: true, meta });
    },
    flush,
    get hasEmitted() {
      return hasEmitted;
    },
  };
}
