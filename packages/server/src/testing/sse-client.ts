import { type Agent, get, type IncomingHttpHeaders } from 'node:http';
import { createSseParser, type SseEvent } from '@weft/protocol';

/** A reader of one stream over a real socket. */
export interface SseClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly frames: readonly SseEvent[];
  /** Everything received, comments included. */
  text(): string;
  /** Resolves when the frames satisfy the condition. */
  until(condition: (frames: readonly SseEvent[], text: string) => boolean): Promise<void>;
  /** Resolves when the server has ended the answer; rejects when the connection broke. */
  readonly ended: Promise<void>;
  disconnect(): void;
}

export interface SseRequest {
  readonly url: string;
  readonly key: string;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
}

export function openSse({ url, key, headers = {}, agent }: SseRequest): Promise<SseClient> {
  return new Promise((resolve, reject) => {
    const request = get(url, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
      ...(agent === undefined ? {} : { agent }),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const frames: SseEvent[] = [];
      const watchers = new Set<() => void>();
      const parser = createSseParser((frame) => frames.push(frame));
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        parser.push(chunk);
        for (const watcher of watchers) watcher();
      });
      const ended = new Promise<void>((done, broken) => {
        response.on('end', () => done());
        response.on('error', broken);
      });
      ended.catch(() => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        frames,
        text: () => text,
        ended,
        disconnect: () => request.destroy(),
        until: (condition) =>
          new Promise((satisfied, failed) => {
            const look = (): void => {
              if (!condition(frames, text)) return;
              watchers.delete(look);
              satisfied();
            };
            watchers.add(look);
            ended.then(() => failed(new Error('The stream ended before the condition held.')), failed);
            look();
          }),
      });
    });
  });
}
