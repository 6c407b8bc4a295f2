import type { ServerResponse } from 'node:http';

/**
 * Writes to a response as fast as its reader takes it. Nothing is queued beyond the socket's own buffer: whoever writes
 * waits for `ready` before it fetches more. A reader that takes nothing for `stallMs` is disconnected.
 */
export interface SocketWriter {
  /** Resolves when there is room again; false when the connection is gone. */
  ready(): Promise<boolean>;
  write(text: string): Promise<boolean>;
  /** For what may be dropped: written only when there is room at once. */
  offer(text: string): void;
}

/** Small enough that a slow reader shows progress within `stallMs`. */
const SLICE = 64 * 1024;

const DONE = Promise.resolve(true);

export function createSocketWriter(response: ServerResponse, stallMs: number): SocketWriter {
  function ready(): Promise<boolean> {
    if (response.destroyed || response.writableEnded) return Promise.resolve(false);
    if (!response.writableNeedDrain) return DONE;
    return new Promise((resolve) => {
      const stall = setTimeout(() => response.destroy(), stallMs);
      const settle = (): void => {
        clearTimeout(stall);
        response.off('drain', settle);
        response.off('close', settle);
        resolve(!response.destroyed);
      };
      response.on('drain', settle);
      response.on('close', settle);
    });
  }

  function hasRoom(): boolean {
    return !response.writableNeedDrain && !response.destroyed && !response.writableEnded;
  }

  // Two writers (the pump and the end of a batch window) take turns, so that their bytes never mix.
  let last = DONE;
  let writing = 0;

  async function writeSlices(bytes: Buffer): Promise<boolean> {
    for (let start = 0; start < bytes.length; start += SLICE) {
      if (!(await ready())) return false;
      response.write(bytes.subarray(start, start + SLICE));
    }
    return true;
  }

  function write(text: string): Promise<boolean> {
    if (text === '') return last;
    if (writing === 0 && text.length <= SLICE && hasRoom()) {
      response.write(text);
      return DONE;
    }
    writing += 1;
    const bytes = Buffer.from(text, 'utf8');
    last = last
      .then(() => writeSlices(bytes))
      .finally(() => {
        writing -= 1;
      });
    return last;
  }

  return {
    ready,
    write,
    offer(text) {
      if (writing === 0 && hasRoom()) response.write(text);
    },
  };
}
