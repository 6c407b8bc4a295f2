import type { GrpcStream } from './grpc-call.ts';

/**
 * Writes messages as fast as their reader takes them: one is on its way at a time, and the next is made when it was taken. A reader
 * that takes nothing for `stallMs` is disconnected, as over HTTP.
 */
export interface MessageWriter {
  /** Resolves when the transport has taken it; false when the caller has gone. */
  write(message: Buffer): Promise<boolean>;
}

export function createMessageWriter(stream: GrpcStream, stallMs: number, reset: () => void): MessageWriter {
  function writeOne(message: Buffer): Promise<boolean> {
    if (stream.cancelled || stream.destroyed || stream.writableEnded) return Promise.resolve(false);
    return new Promise((resolve) => {
      const stall = setTimeout(reset, stallMs);
      const settle = (isWritten: boolean): void => {
        clearTimeout(stall);
        stream.off('close', onClose);
        resolve(isWritten);
      };
      const onClose = (): void => settle(false);
      stream.on('close', onClose);
      stream.write(message, (error?: Error | null) => settle(error === undefined || error === null));
    });
  }

  return { write: writeOne };
}
