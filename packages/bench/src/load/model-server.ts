import { once } from 'node:events';
import { createServer, request as ask, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A language model over the wire format of OpenAI that says a text of its own length, piece by piece, at a steady rate. */
export interface ModelServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface Speech {
  readonly pieces: number;
  readonly perSecond: number;
}

export const MODEL = 'bench-speaker';

/** What a model says in full. */
export function speechText({ pieces }: Speech): string {
  return Array.from({ length: pieces }, (_, index) => piece(index)).join('');
}

function piece(index: number): string {
  return `word-${index} `;
}

export async function startModelServer(speech: Speech): Promise<ModelServer> {
  const speaking = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => speak(response));
  });

  function speak(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let index = 0;
    const timer = setInterval(() => {
      if (index < speech.pieces) {
        response.write(line({ choices: [{ index: 0, delta: { content: piece(index) } }] }));
        index += 1;
        return;
      }
      stop();
      const usage = { prompt_tokens: 10, completion_tokens: index, total_tokens: 10 + index };
      response.write(line({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage }));
      response.end('data: [DONE]\n\n');
    }, 1_000 / speech.perSecond);
    const stop = (): void => {
      clearInterval(timer);
      speaking.delete(timer);
    };
    speaking.add(timer);
    response.once('close', stop);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      for (const timer of speaking) clearInterval(timer);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Plain clients of a model, without a host: what they hear is read and dropped. */
export function listenTo(model: ModelServer, count: number): { stop(): void } {
  const requests = Array.from({ length: count }, () => {
    const request = ask(`${model.url}/chat/completions`, { method: 'POST', agent: false });
    request.once('response', (response) => response.resume());
    // Cut off, at the end.
    request.on('error', () => undefined);
    return request.end('{}');
  });
  return { stop: () => requests.forEach((request) => void request.destroy()) };
}

function line(data: object): string {
  const about = { id: 'speech', object: 'chat.completion.chunk', created: 0, model: MODEL };
  return `data: ${JSON.stringify({ ...about, ...data })}\n\n`;
}
