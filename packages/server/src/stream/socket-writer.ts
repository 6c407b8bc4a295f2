import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Batch } from './batches.ts';

/**
 * Writes to a response as fast as its reader takes it. Nothing is queued beyond the socket's own buffer: a writer
 * waits for `ready` before it fetches more. A reader that takes nothing for `stallMs` is disconnected.
 */
export interface SocketWriter {
  /** Resolves when all is written and there is room again; false when the connection is gone. */
  ready(): Promise<boolean>;
  write(text: string): Promise<boolean>;
  /**
   * Writes what many readers get; false when the next one must wait for `ready`. Once the head is out, the prepared chunk goes
   * to the socket as it is, which costs a fraction of what a response takes to frame it again.
   */
  send(batch: Batch): boolean;
  /**
   * The last that is written: what ends the body goes in the same packet. Only when the socket takes it at once; otherwise the
   * response stays open until there is room, because a stream that ends while its socket is full is cut off.
   */
  finish(batch: Batch): void;
  /** For what may be dropped: written only when there is room at once. */
  offer(text: string): void;
  /** The reader has to take something first. */
  isFull(): boolean;
}

/** Small enough that a slow reader shows progress within `stallMs`. */
const SLICE = 64 * 1024;

/** More than the head of an answer and the end of its body take. */
const AROUND_BYTES = 1_024;

const DONE = Promise.resolve(true);

export function createSocketWriter(response: ServerResponse, stallMs: number): SocketWriter {
  // Two writers (the pump and the end of a batch window) take turns, so that their bytes never mix.
  let last = DONE;
  let writing = 0;
  let isHeadOut = false;

  function writeBody(body: string | Buffer): void {
    response.write(body);
    isHeadOut = true;
  }

  function drained(): Promise<boolean> {
    if (isGone(response)) return Promise.resolve(false);
    if (!needsDrain(response)) return DONE;
    const drains = ownSocket(response) ?? response;
    return new Promise((resolve) => {
      const stall = setTimeout(() => response.destroy(), stallMs);
      const settle = (): void => {
        clearTimeout(stall);
        drains.off('drain', settle);
        response.off('close', settle);
        resolve(!response.destroyed);
      };
      drains.on('drain', settle);
      response.on('close', settle);
    });
  }

  function hasRoom(): boolean {
    return writing === 0 && !needsDrain(response) && !isGone(response);
  }

  async function writeSlices(bytes: Buffer): Promise<boolean> {
    for (let start = 0; start < bytes.length; start += SLICE) {
      if (!(await drained())) return false;
      writeBody(bytes.subarray(start, start + SLICE));
    }
    return true;
  }

  function write(text: string): Promise<boolean> {
    if (text === '') return last;
    if (text.length <= SLICE && hasRoom()) {
      writeBody(text);
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
    ready: () => (writing === 0 ? drained() : last.then(drained)),
    write,
    send({ text, chunk }) {
      const mayChunk = isHeadOut && chunk.length <= SLICE && hasRoom();
      const socket = mayChunk ? chunkedSocket(response) : undefined;
      if (socket === undefined) void write(text);
      else socket.write(chunk);
      return hasRoom();
    },
    finish({ text, chunk }) {
      if (hasRoom() && chunk.length + AROUND_BYTES < freeBytes(response)) response.end(text);
      else void write(text);
    },
    offer(text) {
      if (hasRoom()) writeBody(text);
    },
    isFull: () => needsDrain(response),
  };
}

function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded;
}

function needsDrain(response: ServerResponse): boolean {
  return response.writableNeedDrain || ownSocket(response)?.writableNeedDrain === true;
}

/** The socket, while it is this response's turn on the connection; a response that is injected has none. */
function ownSocket({ socket }: ServerResponse): Socket | undefined {
  return socket instanceof Socket ? socket : undefined;
}

/** What the socket takes before it asks to wait; nothing when it is not this response's turn. */
function freeBytes(response: ServerResponse): number {
  const socket = ownSocket(response);
  return socket === undefined ? 0 : socket.writableHighWaterMark - socket.writableLength;
}

/** The socket, when the body is chunked; a reader of HTTP/1.0, for one, gets it whole. */
function chunkedSocket(response: ServerResponse): Socket | undefined {
  return response.chunkedEncoding ? ownSocket(response) : undefined;
}
