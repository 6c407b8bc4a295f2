import { createGrpcClient, type GrpcEnd } from '@weft/conformance/grpc-client';
import {
  ENDPOINTS,
  type ErrorCode,
  ERRORS,
  GRPC_STATUS,
  grpcStatusOf,
  isJsonObject,
  type Json,
  type JsonObject,
  pathParameters,
  route,
} from '@weft/protocol';
import type { FixtureHost } from './fixture-host.ts';
import type { TransportUnderTest } from './transport-under-test.ts';

/** What the service has of the operations, by their method and path; the others are asked over HTTP. */
const METHODS = [
  'getCapabilities',
  'getWorkflow',
  'createRun',
  'getRun',
  'cancelRun',
  'bulkCancelRuns',
  'pauseRun',
  'resumeRun',
  'forkRun',
  'resolveInterruptByRun',
  'inspectInterruptByToken',
  'resolveInterruptByToken',
  'diffRun',
  'getDebugBundle',
  'verifyAuditLog',
] as const;

const ROWS = METHODS.map((operationId) => {
  const { method, path } = ENDPOINTS[operationId];
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/:]+)')}$`);
  return {
    method,
    pattern,
    names: pathParameters(path),
    name: operationId.charAt(0).toUpperCase() + operationId.slice(1),
    success: Number(Object.keys(route(operationId).responses)[0]),
  };
});

const POLL = /^\/v1\/runs\/([^/:]+)\/events\/poll$/;
const TIMEOUT_MS = 30_000;

/** Asks over gRPC what there is a method for, and answers as HTTP does. */
export const GRPC_TRANSPORT: TransportUnderTest = {
  flags: ['--grpc-port', '0'],
  async open({ key, overHttp }) {
    const { json } = await overHttp('GET', ENDPOINTS.getCapabilities.path);
    const { endpoint } = json['grpc'] as { endpoint: string };
    const client = createGrpcClient({ endpoint, key, timeoutMs: TIMEOUT_MS });
    let asked = 0;

    const call: FixtureHost['call'] = async (method, path, body = {}, headers = {}) => {
      const [plain = '', query = ''] = path.split('?', 2);
      const polled = POLL.exec(plain)?.[1];
      if (polled !== undefined) return { status: 200, headers: new Headers(), json: await poll(polled) };
      const row = ROWS.find((each) => each.method === method && each.pattern.test(plain));
      if (row === undefined) return overHttp(method, path, body, headers);
      const [, ...values] = row.pattern.exec(plain) ?? [];
      const params = Object.fromEntries(
        row.names.map((name, at) => [name, decodeURIComponent(values[at] ?? '')]),
      );
      const request = {
        ...Object.fromEntries(new URLSearchParams(query)),
        ...(body as JsonObject),
        ...params,
      };
      asked += 1;
      const answer = await client.call(row.name, request, { metadata: headers });
      return { ...rendered(answer, row.success), ...(answer.code === 0 && { json: answer.message }) };
    };

    /** The events so far; a stream would wait for the end of the run. */
    async function poll(runId: string): Promise<JsonObject> {
      const { json: page } = await overHttp('GET', `/v1/runs/${runId}/events/poll?limit=1000&timeout=1`);
      if (page['isComplete'] !== true) return page;
      asked += 1;
      const { frames } = await client.stream('StreamRunEvents', { runId, streamModes: ['debug'] });
      return { ...page, events: frames.map(({ runEvent }) => eventOf(runEvent)) };
    }

    return {
      call,
      close() {
        client.close();
        if (asked === 0) throw new Error('Nothing was asked over gRPC.');
      },
    };
  },
};

/** A sequence of 0 is not told apart from none. */
function eventOf(event: Json | undefined): Json {
  return { sequence: 0, ...(isJsonObject(event) ? event : {}) };
}

/** An error of HTTP is one of gRPC by the table, and here is the way back. */
function rendered({ code, envelope, metadata }: GrpcEnd, success: number) {
  const headers = new Headers(
    Object.entries(metadata.getMap()).map(([name, value]): [string, string] => [name, String(value)]),
  );
  if (code === 0) return { status: success, headers, json: {} };
  const error = (isJsonObject(envelope) ? envelope['error'] : undefined) as ErrorCode;
  if (GRPC_STATUS[grpcStatusOf(error)] !== code) throw new Error(`${error} came as ${code}.`);
  return { status: ERRORS[error].status, headers, json: envelope as JsonObject };
}
