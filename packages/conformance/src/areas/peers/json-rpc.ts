import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

/** A JSON-RPC endpoint of a host, which may answer in one piece or as a stream of server-sent events. */
export interface JsonRpc {
  /** The answer to a request: `result` or `error`. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  tell(method: string): Promise<void>;
}

/** What the host wants to see with every request, such as a session; told by its first answer. */
export type CarriedHeader = 'mcp-session-id';

export function openJsonRpc(
  { host, expect }: CheckContext,
  path: string,
  headers: Readonly<Record<string, string>>,
  carried?: CarriedHeader,
): JsonRpc {
  let count = 0;
  let session: Record<string, string> = {};

  const send = (body: JsonObject) =>
    host.request('POST', path, {
      body: { jsonrpc: '2.0', ...body },
      headers: { accept: 'application/json, text/event-stream', ...headers, ...session },
    });

  return {
    async ask(method, params = {}) {
      count += 1;
      const id = count;
      const answer = await send({ id, method, params });
      expect.status(answer, 200);
      const told = carried === undefined ? null : answer.headers.get(carried);
      if (carried !== undefined && told !== null) session = { [carried]: told };
      const messages = isJsonObject(answer.json) ? [answer.json] : eventsOf(answer.text);
      return expect.object(
        messages.find((message) => message['id'] === id),
        `${method} is answered by a JSON-RPC message with its id`,
      );
    },
    async tell(method) {
      expect.status(await send({ method }), 200, 202, 204);
    },
  };
}

function eventsOf(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => {
      try {
        return objectOf(JSON.parse(line.slice('data:'.length)));
      } catch {
        return {};
      }
    });
}

/** The path of an address that a host tells of itself: the suite keeps to the address that it was started with. */
export function pathOfOwn(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
