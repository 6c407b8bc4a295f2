import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  canonicalJson,
  compileValidator,
  CreateRunSchema,
  isJsonObject,
  type JsonObject,
  sseFrame,
} from '@weft/protocol';

/**
 * A host of another make that serves the least a host must: discovery, one workflow whose node does nothing, its events, and
 * errors. No pause, no forks, no bundles, no interrupts. The suite has to run to its end on it, and say what does not apply.
 */
export interface MinimalHost {
  readonly url: string;
  readonly key: string;
  stop(): Promise<void>;
}

const DISCOVERY = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0, maxNodeExecutions: 100 },
  implementation: { name: 'minimal', version: '1' },
  supportedTransports: ['rest'],
};

const WORKFLOW = {
  id: 'conformance-noop',
  name: 'Does nothing',
  version: '1.0',
  nodes: [
    { id: 'noop', typeId: 'core.noop', name: 'Nothing', position: { x: 0, y: 0 }, config: {}, inputs: {} },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
};

const problemsIn = compileValidator(CreateRunSchema);

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Remembered {
  readonly digest: string;
  readonly reply: Reply;
}

export async function startMinimalHost(fixtures: readonly string[] = [WORKFLOW.id]): Promise<MinimalHost> {
  const key = randomUUID();
  const runs = new Map<string, readonly JsonObject[]>();
  const remembered = new Map<string, Remembered>();

  function answer(call: Call): Reply {
    const open = openRoute(call, fixtures);
    if (open !== undefined) return open;
    if (!call.path.startsWith('/v1/')) return refuse(400, 'validation_error', 'Only /v1 is served.');
    if (call.headers.authorization !== `Bearer ${key}`) return refuse(401, 'unauthenticated', 'Send a key.');
    if (call.method === 'POST' && call.path === '/v1/runs') return create(call);
    if (call.method === 'GET' && call.path === `/v1/workflows/${WORKFLOW.id}`)
      return { status: 200, body: WORKFLOW };
    const found = /^\/v1\/runs\/([^/:]+)(\/events\/poll|\/events|\/cancel)?$/.exec(call.path);
    const events = runs.get(found?.[1] ?? '');
    if (found === null || events === undefined) return refuse(404, 'not_found', 'There is no such thing.');
    return ofRun(call, found[2] ?? '', events);
  }

  function create({ body, headers }: Call): Reply {
    const asked = objectFrom(body);
    const refused = refusalOf(asked);
    if (asked === undefined || refused !== undefined)
      return refused ?? refuse(400, 'validation_error', 'The body is no JSON object.');
    const used = headers['idempotency-key'];
    if (typeof used !== 'string') return begin();
    const digest = createHash('sha256').update(canonicalJson(asked)).digest('hex');
    const earlier = remembered.get(used);
    if (earlier === undefined) {
      const reply = begin();
      remembered.set(used, { digest, reply });
      return reply;
    }
    return earlier.digest === digest
      ? { ...earlier.reply, headers: { 'openwop-Idempotent-Replay': 'true' } }
      : refuse(409, 'idempotency_key_mismatch', 'This key was used with another body.');
  }

  function begin(): Reply {
    const runId = randomUUID();
    runs.set(runId, eventsOf(runId));
    const urls = { eventsUrl: `/v1/runs/${runId}/events`, statusUrl: `/v1/runs/${runId}` };
    return { status: 201, body: { runId, status: 'running', ...urls } };
  }

  const server = createServer((incoming, outgoing) => {
    void read(incoming).then((call) => send(outgoing, call, answer(call)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    key,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function refusalOf(asked: JsonObject | undefined): Reply | undefined {
  const [problem] = problemsIn(asked);
  if (problem !== undefined) return refuse(400, 'validation_error', problem.message);
  if (asked?.['mode'] !== undefined)
    return refuse(501, 'capability_not_provided', 'There are no evaluations.');
  if (asked?.['workflowId'] !== WORKFLOW.id) return refuse(404, 'not_found', 'There is no such workflow.');
  return undefined;
}

function openRoute({ path }: Call, fixtures: readonly string[]): Reply | undefined {
  if (path === '/.well-known/openwop')
    return {
      status: 200,
      body: { ...DISCOVERY, fixtures },
      headers: { 'cache-control': 'public, max-age=300' },
    };
  if (path === '/v1/openapi.json')
    return {
      status: 200,
      body: {
        openapi: '3.1.0',
        info: { title: 'minimal', version: '1.1.0', description: 'Without /v1/packs.' },
        paths: {},
      },
    };
  return undefined;
}

function ofRun({ method, query, headers }: Call, rest: string, events: readonly JsonObject[]): Reply {
  const runId = events[0]?.['runId'] ?? '';
  const ended = { runId, workflowId: WORKFLOW.id, status: 'completed' };
  if (rest === '') return { status: 200, body: ended };
  if (rest === '/cancel')
    return method === 'POST'
      ? { status: 200, body: { runId, status: 'completed' } }
      : refuse(404, 'not_found', 'There is no such thing.');
  const cursor = query.get('lastSequence') ?? headers['last-event-id'] ?? '-1';
  if (!/^-?\d+$/.test(String(cursor)))
    return refuse(400, 'validation_error', 'lastSequence and Last-Event-ID are whole numbers.');
  const mode = query.get('streamMode') ?? 'updates';
  if (rest === '/events' && mode !== 'updates') {
    const details = { supported: ['updates'] };
    return refuse(400, 'unsupported_stream_mode', 'Only updates are served.', details);
  }
  const buffer = query.get('bufferMs') ?? '0';
  if (!/^\d{1,4}$/.test(buffer) || Number(buffer) > 5_000)
    return refuse(400, 'validation_error', 'bufferMs is a whole number from 0 to 5000.');
  const newer = events.filter((event) => Number(event['sequence']) > Number(cursor));
  if (rest === '/events' && headers.accept?.includes('text/event-stream') === true)
    return { status: 200, body: newer.filter(isUpdate), headers: { 'content-type': 'text/event-stream' } };
  return { status: 200, body: { events: newer, isComplete: true } };
}

function isUpdate({ type }: JsonObject): boolean {
  return type !== 'node.started';
}

function eventsOf(runId: string): JsonObject[] {
  const timestamp = new Date().toISOString();
  const node = { nodeId: 'noop' };
  const facts: readonly JsonObject[] = [
    { type: 'run.started', payload: { workflowId: WORKFLOW.id } },
    { type: 'node.started', ...node, payload: { ...node, typeId: 'core.noop', attempt: 0 } },
    { type: 'node.completed', ...node, payload: { ...node, outputs: {} } },
    { type: 'run.completed', payload: {} },
  ];
  return facts.map((fact, sequence) => ({
    eventId: `${runId}-${sequence}`,
    runId,
    timestamp,
    sequence,
    ...fact,
  }));
}

function refuse(status: number, error: string, message: string, details?: JsonObject): Reply {
  return { status, body: { error, message, ...(details === undefined ? {} : { details }) } };
}

function objectFrom(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function read(incoming: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://minimal');
  return {
    method: incoming.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function send(outgoing: ServerResponse, { method }: Call, { status, body, headers = {} }: Reply): void {
  const type = headers['content-type'] ?? 'application/json';
  outgoing.writeHead(status, { ...headers, 'content-type': type });
  if (method === 'HEAD') outgoing.end();
  else if (type === 'application/json') outgoing.end(JSON.stringify(body));
  else {
    for (const event of body as JsonObject[])
      outgoing.write(
        sseFrame({
          id: Number(event['sequence']),
          event: String(event['type']),
          data: JSON.stringify(event),
        }),
      );
    outgoing.end();
  }
}
