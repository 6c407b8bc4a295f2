import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RegisterWorkerRequest, TaskReport, WorkerMessage } from '@weft/protocol/plain';

/** A host that does as a test tells it: the worker's side of the protocol, and nothing behind it. */
export interface ScriptedHost {
  readonly url: string;
  readonly registrations: RegisterWorkerRequest[];
  readonly reports: TaskReport[];
  readonly closed: string[];
  /** How many streams of tasks were opened. */
  readonly streamCount: number;
  /** Writes a line to the newest stream. */
  say(message: WorkerMessage): void;
  /** Ends the newest stream, as a lost connection does. */
  cut(): void;
  /** From now on; undefined: as usual. A number is a status of failure, `hold` is no answer at all. */
  answer: {
    reports?: number | 'hold' | 'forget' | ((report: TaskReport) => number | undefined) | undefined;
    register?: number | 'hold' | undefined;
    leaseMs: number;
    resumed?: boolean;
    refuse?: boolean;
  };
  /** Answers what was held. */
  release(): void;
  /** Resolves when it is so; looks after every request and every 5 ms. */
  until(condition: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

const LONGEST_WAIT_MS = 10_000;

export async function startScriptedHost(): Promise<ScriptedHost> {
  const streams: ServerResponse[] = [];
  let held: (() => void)[] = [];
  let sessions = 0;

  function respond(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  function refuse(response: ServerResponse, status: number): void {
    respond(response, status, { error: 'scripted', message: `The script says ${status}.` });
  }

  async function register(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await readJson(request)) as RegisterWorkerRequest;
    const { register: scripted } = host.answer;
    if (typeof scripted === 'number') return refuse(response, scripted);
    host.registrations.push(body);
    if (scripted === 'hold') held.push(() => accept(body, response));
    else accept(body, response);
  }

  function accept(body: RegisterWorkerRequest, response: ServerResponse): void {
    sessions += 1;
    respond(response, 201, {
      workerId: `w${sessions}`,
      leaseMs: host.answer.leaseMs,
      heartbeatMs: Math.ceil(host.answer.leaseMs / 3),
      types: body.types.map(({ typeId, version }) => ({ typeId, version, digest: 'd' })),
      resumed: host.answer.resumed === true ? (body.resume ?? []) : [],
    });
  }

  async function report(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await readJson(request)) as TaskReport;
    const { reports: scripted, leaseMs } = host.answer;
    const reports = typeof scripted === 'function' ? scripted(body) : scripted;
    if (typeof reports === 'number') return refuse(response, reports);
    if (reports === 'forget') return;
    host.reports.push(body);
    const settle = () => {
      const results = host.answer.refuse === true ? (body.results ?? []) : [];
      const refused = results.map(({ taskId, lease }) => ({
        taskId,
        lease,
        error: 'stale_lease',
        message: 'Stale.',
      }));
      respond(response, 200, { leaseMs, refused });
    };
    if (reports === 'hold') held.push(settle);
    else settle();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (request.method === 'DELETE') {
      host.closed.push(path.split('/').at(-1) ?? '');
      respond(response, 204, undefined);
    } else if (path.endsWith('/tasks')) {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.flushHeaders();
      streams.push(response);
    } else if (path.endsWith('/reports')) await report(request, response);
    else await register(request, response);
  }

  const server: Server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const host: ScriptedHost = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    registrations: [],
    reports: [],
    closed: [],
    get streamCount() {
      return streams.length;
    },
    answer: { leaseMs: 60_000 },
    say: (message) => void streams.at(-1)?.write(`${JSON.stringify(message)}\n`),
    cut: () => void streams.at(-1)?.destroy(),
    release() {
      for (const settle of held) settle();
      held = [];
    },
    async until(condition) {
      const deadline = Date.now() + LONGEST_WAIT_MS;
      while (!condition()) {
        if (Date.now() > deadline)
          throw new Error(`not so after ${LONGEST_WAIT_MS} ms: ${String(condition)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return host;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
