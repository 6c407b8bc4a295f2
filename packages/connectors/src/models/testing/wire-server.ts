import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';

/** What a server of a provider was asked. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** What it is to say, in the words of no provider; each server writes it in its own format. */
export interface Script {
  /** Pieces of the answer's text. */
  readonly text?: readonly string[];
  /** Between two pieces; all at once when left out. */
  readonly everyMs?: number;
  /** Pieces of what it reasons before. */
  readonly reasoning?: readonly string[];
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish?: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  readonly usage?: { readonly input: number; readonly output: number };
  /** An answer that is no stream. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error?: string;
  /** After the text: the connection breaks, the stream ends without a word, a line is no JSON, text never ends, nothing more comes. */
  readonly after?: 'break' | 'end' | 'garbage' | 'endless' | 'silence';
}

/** How a provider writes an answer. */
export interface WireFormat {
  errorBody(message: string, status: number): JsonObject;
  /** Server-sent events before the text, of one piece of it, of tool calls, and after everything. */
  begin(model: string, script: Script): readonly string[];
  piece(text: string): string;
  /** Of what it reasons; undefined where the format has none. */
  thought?(text: string): string;
  toolCalls(script: Script): readonly string[];
  end(model: string, script: Script): readonly string[];
}

export interface WireServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** The next answers, in this order; the last is given again and again. */
  say(...scripts: Script[]): void;
  close(): Promise<void>;
}

/** A provider on loopback that answers by its script. */
export async function startWireServer(format: WireFormat): Promise<WireServer> {
  const asked: Asked[] = [];
  let scripts: Script[] = [{ text: ['hello'] }];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request) text += String(piece);
    const body = JSON.parse(text === '' ? '{}' : text) as JsonObject;
    asked.push({ path: request.url ?? '', headers: request.headers, body });
    const script = (scripts.length > 1 ? scripts.shift() : scripts[0]) ?? {};
    if (script.status !== undefined) {
      const { status, error = 'scripted' } = script;
      response.writeHead(status, { 'content-type': 'application/json', ...script.headers });
      response.end(JSON.stringify(format.errorBody(error, status)));
      return;
    }
    const model = typeof body['model'] === 'string' ? body['model'] : 'invented';
    await stream(response, script, model);
  }

  async function stream(response: ServerResponse, script: Script, model: string): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of format.begin(model, script)) response.write(event);
    const { everyMs, reasoning = [], text = [] } = script;
    for (const event of [
      ...reasoning.map((piece) => format.thought?.(piece) ?? ''),
      ...text.map(format.piece),
    ]) {
      response.write(event);
      if (everyMs !== undefined) await pause(everyMs);
    }
    switch (script.after) {
      case 'break':
        response.write(' ', () => response.destroy());
        return;
      case 'end':
        response.end();
        return;
      case 'garbage':
        response.end('data: {"half":\n\n');
        return;
      case 'silence':
        return;
      case 'endless':
        response.on('drain', () => response.write(format.piece('x'.repeat(256 * 1024))));
        response.write(format.piece('x'.repeat(256 * 1024)));
        return;
      default:
        for (const event of [...format.toolCalls(script), ...format.end(model, script)])
          response.write(event);
        response.end();
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    say(...next) {
      scripts = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function sse(data: JsonObject, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}
