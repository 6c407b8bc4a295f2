import {
  ANY_SCOPE,
  asyncApiDocument,
  compileValidator,
  createSseParser,
  ENDPOINTS,
  type JsonObject,
  openApiDocument,
  type OperationId,
  type SseEvent,
} from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkExchange } from './testing/contract.ts';
import { type Call, type DrivenHost, openDrivenHost } from './testing/driven-host.ts';

/**
 * Every operation of the OpenAPI document, asked over a real connection. Each answer is held against the document: a status, a
 * header, a media type, a body or an error code that it does not have is a failure.
 */
interface Described {
  readonly operationId: OperationId;
  readonly method: string;
  readonly path: string;
  readonly security?: readonly [];
  readonly 'x-scope'?: string;
  readonly requestBody?: JsonObject;
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[];
}

const { paths } = openApiDocument() as { paths: unknown } as {
  paths: Record<string, Record<string, Omit<Described, 'method' | 'path'>>>;
};

const OPERATIONS: readonly Described[] = Object.entries(paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      parameters: operation.parameters ?? [],
      method: method.toUpperCase(),
      path,
    })),
  )
  // In the order of the table: the last one drains the host.
  .toSorted((left, right) => placeOf(left) - placeOf(right));

function placeOf({ operationId }: Described): number {
  return Object.keys(ENDPOINTS).indexOf(operationId);
}

function takes({ parameters }: Described, name: string): boolean {
  return parameters.some((parameter) => parameter.name === name || parameter.$ref?.endsWith(`/${name}`));
}

let host: DrivenHost;
beforeAll(async () => {
  host = await openDrivenHost();
});
afterAll(() => host.at.close());

interface Asked extends Omit<Call, 'key'> {
  readonly key?: string | null;
  /** In place of the body. */
  readonly text?: string;
}

async function ask(operation: Pick<Described, 'method' | 'path'>, asked: Asked) {
  const { method } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(asked.path?.[name] ?? ''),
  );
  const url = `${path}?${new URLSearchParams({ ...asked.query }).toString()}`;
  const key = asked.key === undefined ? host.at.key : asked.key;
  const body = asked.text ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body));
  const response = await fetch(host.url + url, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...asked.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return {
    status: response.status,
    headers: response.headers,
    async text(): Promise<string> {
      const text = await response.text();
      const headers = Object.fromEntries(response.headers);
      checkExchange({ method, url, status: response.status, headers, text });
      return text;
    },
  };
}

async function answered(operation: Pick<Described, 'method' | 'path'>, asked: Asked) {
  const answer = await ask(operation, asked);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

function described(id: OperationId): Described {
  const found = OPERATIONS.find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`${id} is not in the document`);
  return found;
}

describe('the OpenAPI document', () => {
  it('is what the host serves', async () => {
    const { text } = await answered(ENDPOINTS.getOpenApiSpec, { key: null });

    expect(JSON.parse(text)).toEqual(openApiDocument());
  });

  it('has the operations that the app has routes for, and no other', () => {
    const aliases = Object.values(ENDPOINTS).flatMap((row) =>
      'alias' in row ? [`${row.method} ${row.alias}`] : [],
    );

    expect([...routesOf(host)].toSorted()).toEqual(
      [...OPERATIONS.map(({ method, path }) => `${method} ${path}`), ...aliases].toSorted(),
    );
  });
});

describe('event streams', () => {
  it.each(['updates', 'values', 'messages', 'debug', 'updates,messages,debug'])(
    'have the frames of the document in mode %s, one by one and in batches',
    async (streamMode) => {
      const call = await host.calls.streamRunEvents();

      for (const bufferMs of ['0', '50']) {
        const query = { streamMode, bufferMs };
        const { status, text } = await answered(described('streamRunEvents'), { ...call, query });
        expect([status, unlikeAsyncApi(text, streamMode)]).toEqual([200, []]);
      }
    },
  );

  it('have the notice of an annotation while the run is active', async () => {
    const path = { runId: await host.waiting() };

    const stream = await ask(described('streamRunEvents'), { path });
    await answered(described('createAnnotation'), { path, body: { signal: { kind: 'flag' } } });
    await answered(described('cancelRun'), { path });

    const text = await stream.text();
    expect(text).toContain('event: run.annotated');
    expect(unlikeAsyncApi(text, 'updates')).toEqual([]);
  });

  it('have a form in JSON', async () => {
    const call = await host.calls.streamRunEvents();

    const { text } = await answered(described('streamRunEvents'), {
      ...call,
      headers: { accept: 'application/json' },
    });

    expect(JSON.parse(text)).toMatchObject({ isComplete: true });
  });
});

describe.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
  '%s',
  (operationId, operation) => {
    it('fails as the document says', async () => {
      const call = await host.calls[operationId]();
      const failures: [number[], Asked][] = [];
      if (operation.security === undefined) {
        failures.push([[401], { ...call, key: null }]);
        const scope = operation['x-scope'];
        // What every key may do has no scope that one could lack.
        if (scope !== undefined && scope !== ANY_SCOPE)
          failures.push([[403], { ...call, key: await host.at.keyWithout(scope) }]);
      }
      if (call.path !== undefined) {
        const unknown = Object.fromEntries(Object.keys(call.path).map((name) => [name, 'unknown']));
        // An unknown trigger is answered like a wrong signature.
        const isIngest = operationId === 'ingestDelivery';
        failures.push([isIngest ? [401] : [404, 204], { ...call, path: unknown }]);
        const wrong = Object.fromEntries(Object.keys(call.path).map((name) => [name, 'a\u0000b']));
        failures.push([[400, 404], { ...call, path: wrong }]);
      }
      if (operation.requestBody !== undefined) failures.push([[400], { ...call, text: '{"half":' }]);

      for (const [statuses, asked] of failures)
        expect(statuses).toContain((await answered(operation, asked)).status);
    });

    it('succeeds as the document says, and is repeated where a request is sent again', async () => {
      const call = await host.calls[operationId]();
      const isKeyed = takes(operation, 'Idempotency-Key');
      const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
      const asked: Call = {
        ...call,
        headers: { ...call.headers, ...headers, ...(isKeyed && { 'idempotency-key': operationId }) },
      };

      const first = await answered(operation, asked);

      expect(first.status).toBeGreaterThanOrEqual(200);
      expect(first.status).toBeLessThan(300);
      if (isKeyed) {
        const again = await answered(operation, asked);
        expect([again.status, again.headers.get('openwop-idempotent-replay')]).toEqual([
          first.status,
          'true',
        ]);
      }
      if (takes(operation, 'If-None-Match')) {
        const etag = { 'if-none-match': first.headers.get('etag') ?? '' };
        expect((await answered(operation, { ...call, headers: etag })).status).toBe(304);
      }
    });
  },
);

/** The frames that the AsyncAPI document does not have in the channel of this mode, or has with another payload. */
function unlikeAsyncApi(text: string, streamMode: string): SseEvent[] {
  const { channels, components } = JSON.parse(
    JSON.stringify(asyncApiDocument()).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as {
    channels: Record<string, { messages: JsonObject }>;
    components: { schemas: JsonObject; messages: Record<string, { payload: JsonObject }> };
  };
  const { messages } = channels[streamMode] ?? channels['mixed'] ?? { messages: {} };
  const frames: SseEvent[] = [];
  createSseParser((frame) => frames.push(frame)).push(text);
  return frames.filter(({ event, data }) => {
    const payload = event in messages ? components.messages[event]?.payload : undefined;
    if (payload === undefined) return true;
    return compileValidator({ ...payload, $defs: components.schemas })(JSON.parse(data)).length > 0;
  });
}

/** Methods and paths of the app, in the way the document writes them. */
function* routesOf({ at }: DrivenHost): Generator<string> {
  const parts: string[] = [];
  for (const line of at.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] =
      /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    const level = indent.length / 4;
    parts.splice(level, parts.length, part);
    const path = parts
      .join('')
      .replaceAll(/\/:(\w+)(?:\([^)]*\))?/g, '/{$1}')
      .replaceAll('::', ':');
    // HEAD goes with GET, and the document need not say so.
    for (const method of methods.split(', ').filter((name) => name !== '' && name !== 'HEAD'))
      yield `${method} ${path}`;
  }
}
