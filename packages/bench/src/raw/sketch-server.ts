/**
 * The bare sketch: what a host could reach that did nothing but the work itself. Fastify, SQLite or PostgreSQL with a sync per
 * commit, one group commit per turn of the event loop, POST and SSE. No validation, no tenants, no idempotency, no recovery.
 * The host is measured against it in the same minutes.
 *
 * Arguments: PORT DATABASE ECHO_URL, where DATABASE is a file, or the URL of a PostgreSQL server followed by # and a schema.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Agent, get } from 'node:http';
import { fastify } from 'fastify';
import { WORKLOADS, type Workload } from '../load/workloads.ts';
import { openRawDatabase, type RawUnit } from './database.ts';
import { openRawPostgres, PARALLEL_GROUPS } from './postgres-database.ts';
import { eventsOf, batchesOf, type RawEvent } from './rows.ts';

const [port = '0', file = '', echoUrl = ''] = process.argv.slice(2);
const isPostgres = file.startsWith('postgres://');
const db = isPostgres ? await openRawPostgres(file) : openRawDatabase(file);
/** SQLite has one writer; a server takes a few groups at a time. */
const mostGroups = isPostgres ? PARALLEL_GROUPS : 1;
const agent = new Agent({ keepAlive: true });
const live = new Map<string, EventEmitter>();
let waiting: { unit: RawUnit; done: () => void }[] = [];
let groups = 0;
let commits = 0;
let lastRid = 0;

/** Resolves once the unit is durable; units of the same turn share one sync. */
function commit(unit: RawUnit): Promise<void> {
  return new Promise((done) => {
    if (waiting.push({ unit, done }) === 1) setImmediate(flush);
  });
}

function flush(): void {
  if (waiting.length === 0 || groups === mostGroups) return;
  const group = waiting;
  waiting = [];
  const committed = db.commit(group.map(({ unit }) => unit));
  commits += 1;
  if (committed === undefined) for (const { done } of group) done();
  else void settle(committed, group);
}

async function settle(committed: Promise<void>, group: typeof waiting): Promise<void> {
  groups += 1;
  await committed;
  groups -= 1;
  for (const { done } of group) done();
  flush();
}

async function create(workload: Workload): Promise<string> {
  const id = randomBytes(16);
  const runId = id.toString('hex');
  const at = Date.now();
  const rid = (lastRid += 1);
  const [first = [], ...rest] = batchesOf(workload, eventsOf(workload, at));
  if (rest.length > 0) live.set(runId, new EventEmitter().setMaxListeners(0));
  await commit({ rid, create: { runId: id, at }, isOver: rest.length === 0, events: first });
  if (rest.length > 0) void continueRun(runId, rid, rest);
  return runId;
}

/** One effect per batch; its outcome is durable before the next one is performed. */
async function continueRun(runId: string, rid: number, batches: readonly RawEvent[][]): Promise<void> {
  for (const [index, events] of batches.entries()) {
    await callEcho();
    const isOver = index === batches.length - 1;
    await commit({ rid, isOver, events });
    live.get(runId)?.emit('events', events);
    if (isOver) live.delete(runId);
  }
}

async function callEcho(): Promise<void> {
  const request = get(echoUrl, { agent });
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  JSON.parse(body);
}

function frame(runId: string, event: RawEvent): string {
  const node = event.nodeId === null ? '' : `"nodeId":"${event.nodeId}",`;
  const time = new Date(event.at).toISOString();
  return `id: ${event.seq}\nevent: ${event.type}\ndata: {"eventId":"${runId}-${event.seq}","runId":"${runId}","type":"${event.type}",${node}"payload":${event.payload},"timestamp":"${time}","sequence":${event.seq},"schemaVersion":1,"engineVersion":"1"}\n\n`;
}

const app = fastify({ logger: false, forceCloseConnections: true });

app.post<{ Body: { workflowId: string } }>('/v1/runs', async (request, reply) => {
  const workload = WORKLOADS.find(({ workflowId }) => workflowId === request.body.workflowId);
  if (workload === undefined) return reply.code(404).send({ error: 'not_found' });
  const runId = await create(workload);
  const statusUrl = `/v1/runs/${runId}`;
  return reply.code(201).send({ runId, status: 'running', eventsUrl: `${statusUrl}/events`, statusUrl });
});

app.get<{ Params: { runId: string } }>('/v1/runs/:runId/events', async (request, reply) => {
  const { runId } = request.params;
  const source = live.get(runId);
  // Attached before reading, so that no commit falls between the two; what comes meanwhile is written after the history.
  const early: RawEvent[] = [];
  const keep = (events: readonly RawEvent[]) => void early.push(...events);
  source?.on('events', keep);
  const read = db.read(Buffer.from(runId, 'hex'));
  const history = read instanceof Promise ? await read : read;
  source?.off('events', keep);
  // A run that is over is one body with a length, as the host answers it too.
  if (history.at(-1)?.type === 'run.completed') {
    return reply
      .header('content-type', 'text/event-stream')
      .send(history.map((event) => frame(runId, event)).join(''));
  }
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const write = (events: readonly RawEvent[]) => {
    const text = events.map((event) => frame(runId, event)).join('');
    if (events.at(-1)?.type === 'run.completed') reply.raw.end(text);
    else reply.raw.write(text);
  };
  source?.on('events', write);
  const last = history.at(-1)?.seq ?? -1;
  write([...history, ...early.filter(({ seq }) => seq > last)]);
  return reply;
});

app.get('/stats', () => ({ commits }));

process.on('SIGTERM', () => {
  void app
    .close()
    .then(() => db.close())
    .then(() => process.exit(0));
});

await app.listen({ port: Number(port), host: '127.0.0.1' });
process.send?.({ ready: true });
