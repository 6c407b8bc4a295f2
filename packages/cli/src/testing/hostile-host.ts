import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type Json, type JsonObject, type Route, ROUTES } from '@weft/protocol';
import { sampleOf } from '@weft/protocol/schema-samples';

/** Everything a terminal obeys, a person misreads, or that could pass for a line of ours. */
export const HOSTILE =
  'A\u001B[31mB\u001B]0;title\u0007C\nFORGED completed\rD\u009B2JE\u202EF\u2066G\u200BH\u2028I\u007FJ\u0000K\tL';

/** A host that answers every question in the right form, and puts hostile text wherever there is room for text. */
export interface HostileHost {
  readonly url: string;
  close(): Promise<void>;
}

export interface HostileOptions {
  /** Every answer is this error. */
  readonly status?: number;
}

const EVENTS: readonly JsonObject[] = [
  { type: 'run.started' },
  { type: 'node.started' },
  { type: 'variable.changed', payload: { name: HOSTILE, next: HOSTILE } },
  { type: 'log.appended', payload: { message: HOSTILE } },
  { type: 'interrupt.requested', payload: { kind: 'approval', key: HOSTILE, data: { title: HOSTILE } } },
  { type: 'approval.received', payload: { action: HOSTILE, decidedBy: HOSTILE, feedback: HOSTILE } },
  { type: HOSTILE, payload: { reason: HOSTILE } },
  { type: 'node.failed', payload: { error: { code: HOSTILE, message: HOSTILE } } },
  {
    type: 'run.failed',
    payload: { error: { code: HOSTILE, message: HOSTILE }, failedNodeId: HOSTILE, outputs: { a: HOSTILE } },
  },
].map(({ type, payload }, sequence) => ({
  eventId: HOSTILE,
  runId: HOSTILE,
  sequence,
  type: type ?? '',
  timestamp: '2026-01-31T12:00:00.000Z',
  nodeId: HOSTILE,
  payload: { nodeId: HOSTILE, ...payload },
}));

const SNAPSHOT: JsonObject = {
  status: 'failed',
  nodeStates: { [HOSTILE]: { status: HOSTILE, error: { code: HOSTILE, message: HOSTILE } } },
  variables: { [HOSTILE]: HOSTILE },
  channels: { [HOSTILE]: HOSTILE },
  weft: { imported: { runId: HOSTILE, host: HOSTILE } },
  interrupts: [
    {
      runId: HOSTILE,
      workflowId: HOSTILE,
      nodeId: HOSTILE,
      interruptId: HOSTILE,
      kind: 'approval',
      data: { title: HOSTILE },
      votes: [],
      requestedAt: '2026-01-31T12:00:00.000Z',
    },
  ],
};

/** Where a form alone does not lead far enough. */
const INSTEAD: Readonly<Record<string, JsonObject>> = {
  getRun: SNAPSHOT,
  getRunState: SNAPSHOT,
  pollRunEvents: { events: [...EVENTS], isComplete: true },
  getDebugBundle: {
    bundleVersion: '1.0',
    run: { ...SNAPSHOT, runId: HOSTILE, workflowId: HOSTILE },
    events: [...EVENTS],
  },
  listInterrupts: { interrupts: SNAPSHOT['interrupts'] ?? [] },
  diffRun: {
    eventDiffs: [{ seq: 3, aEvent: EVENTS[3] ?? {}, bEvent: EVENTS[6] ?? {} }],
    stateDiff: { [HOSTILE]: { a: { [HOSTILE]: HOSTILE }, b: HOSTILE } },
  },
  listNodes: {
    nodes: [{ name: HOSTILE, state: 'drained', version: HOSTILE, runs: 1, isSelf: true, deadline: HOSTILE }],
  },
};

export async function openHostileHost({ status }: HostileOptions = {}): Promise<HostileHost> {
  const server = createServer((request, response) => {
    request.resume();
    if (status === undefined) answer(request, response);
    else refuse(response, status);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

function refuse(response: ServerResponse, status: number): void {
  const problems = [HOSTILE, HOSTILE].map((text) => ({ path: text, message: text, code: text }));
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: HOSTILE, message: HOSTILE, details: { problems, field: HOSTILE } }));
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://host').pathname;
  const route = ROUTES.find(({ method, path: form }) => method === request.method && matches(form, path));
  const [status = '404', found] =
    Object.entries(route?.responses ?? {}).find(([code]) => code !== '304') ?? [];
  if (route === undefined || found === undefined) return refuse(response, 404);
  if (route.operationId === 'streamRunEvents') return stream(response);
  const type = found.contentType ?? 'application/json';
  response.writeHead(Number(status), {
    'content-type': type,
    'content-disposition': 'attachment; filename="../../evil\\\\x"',
  });
  if (found.schema === undefined) response.end();
  else if (type === 'application/json') response.end(JSON.stringify(bodyOf(route, found.schema)));
  else response.end('bytes');
}

function bodyOf({ operationId }: Route, schema: object): Json {
  const made = sampleOf(schema, {
    hasMember: (path) => !path.endsWith('/nextCursor'),
    text: () => HOSTILE,
  });
  const instead = INSTEAD[operationId];
  return isJsonObject(made) && instead !== undefined ? { ...made, ...instead } : made;
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of EVENTS) {
    const type = String(event['type']).startsWith('A') ? 'vendor' : String(event['type']);
    response.write(`id: ${String(event['sequence'])}\nevent: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function matches(form: string, path: string): boolean {
  const pattern = form.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/:]+');
  return new RegExp(`^${pattern}$`).test(path);
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
