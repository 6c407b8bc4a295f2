import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/**
 * A worker as a plain program that speaks the protocol with `fetch`. Its tasks tick: for as long as one is performed, the program writes a
 * line every few milliseconds, so that a test sees who performed what, and when, whatever became of the process.
 */
export interface TickWorker {
  readonly name: string;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface Tick {
  readonly invocationId: string;
  readonly worker: string;
  readonly lease: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The type that it serves: `ms` says how long a task takes. */
export const TICK_TYPE = {
  typeId: 'acme.tick',
  version: '1.0.0',
  inputs: { type: 'object', properties: { ms: { type: 'number' } }, required: ['ms'] },
  outputs: {
    type: 'object',
    properties: { invocation: { type: 'string' } },
    required: ['invocation'],
  },
} as const;

const PROGRAM = `
import { appendFileSync } from 'node:fs';
const [, , base, key, name, file, capacity, type] = process.argv;
const TICK_MS = 10;
const now = () => performance.now();
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
const tasks = new Map();
let session;
let leaseEnds = 0;

async function post(path, body) {
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(3_000) });
  const text = await response.text();
  if (!response.ok) throw Object.assign(new Error(response.status + ' ' + text), { status: response.status });
  return JSON.parse(text);
}

function stop(task) {
  task.isStopped = true;
  clearTimeout(task.timer);
  if (tasks.get(task.taskId) === task) tasks.delete(task.taskId);
}

/** A lease that has passed does not come back: the host may have given the tasks to others. */
function holdsLease() {
  if (leaseEnds > now()) return true;
  for (const task of [...tasks.values()]) stop(task);
  session = undefined;
  return false;
}

/** Bytes leave only while the lease holds, checked in the turn in which they do. */
function tick(task) {
  if (task.isStopped || !holdsLease()) return;
  appendFileSync(file, JSON.stringify({ invocationId: task.invocationId, worker: name, lease: task.lease, at: Date.now() }) + '\\n');
  task.ticks += 1;
  if (task.ticks * TICK_MS < task.inputs.ms) task.timer = setTimeout(() => tick(task), TICK_MS);
  else task.result = { taskId: task.taskId, lease: task.lease, outputs: { invocation: task.invocationId } };
}

async function beat(own) {
  while (session === own) {
    const done = [...tasks.values()].filter((task) => task.result !== undefined);
    const sentAt = now();
    try {
      if (!holdsLease()) break;
      const receipt = await post('/v1/host/weft/workers/' + own.workerId + '/reports', { results: done.map(({ result }) => result) });
      if (session !== own || !holdsLease()) break;
      leaseEnds = Math.max(leaseEnds, sentAt + receipt.leaseMs);
      for (const task of done) stop(task);
      for (const { taskId, lease } of receipt.refused) if (tasks.get(taskId)?.lease === lease) stop(tasks.get(taskId));
    } catch (error) {
      if (error.status === 404) break;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (session === own) session = undefined;
}

async function read(own) {
  try {
    const response = await fetch(base + '/v1/host/weft/workers/' + own.workerId + '/tasks', { headers });
    if (!response.ok) return;
    let text = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const lines = text.split('\\n');
      text = lines.pop();
      for (const line of lines) if (session === own) receive(JSON.parse(line));
    }
  } catch {
    // The next session begins.
  } finally {
    if (session === own) session = undefined;
  }
}

function receive(message) {
  if (message.type === 'cancel' && tasks.get(message.taskId)?.lease === message.lease) stop(tasks.get(message.taskId));
  if (message.type !== 'task' || !holdsLease()) return;
  const known = tasks.get(message.taskId);
  if (known?.lease === message.lease) return;
  if (known !== undefined) stop(known);
  const task = { ...message, ticks: 0 };
  tasks.set(task.taskId, task);
  tick(task);
}

for (;;) {
  if (session === undefined) {
    try {
      const resume = holdsLease() ? [...tasks.values()].map(({ taskId, lease }) => ({ taskId, lease })) : [];
      const sentAt = now();
      const opened = await post('/v1/host/weft/workers', { name, capacity: Number(capacity), types: [JSON.parse(type)], resume });
      // What was lost while the host answered is its to give to others.
      const left = opened.resumed.filter(({ taskId, lease }) => tasks.get(taskId)?.lease !== lease);
      const kept = new Set(opened.resumed.map(({ taskId, lease }) => taskId + ' ' + lease));
      for (const task of [...tasks.values()]) if (!kept.has(task.taskId + ' ' + task.lease)) stop(task);
      leaseEnds = sentAt + opened.leaseMs;
      session = opened;
      if (left.length > 0) await post('/v1/host/weft/workers/' + opened.workerId + '/reports', { returned: left });
      void read(session);
      void beat(session);
    } catch (error) {
      if (process.env.TICK_DEBUG) console.error(name, error.message);
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
`;

export interface TickWorkers {
  start(name: string, url: string, capacity?: number): TickWorker;
  ticks(): readonly Tick[];
  stop(): Promise<void>;
}

export function tickWorkers(folder: string, apiKey: string): TickWorkers {
  const program = join(folder, 'tick-worker.mjs');
  const file = join(folder, 'ticks.ndjson');
  writeFileSync(program, PROGRAM);
  appendFileSync(file, '');
  const children = new Set<ChildProcess>();

  return {
    start(name, url, capacity = 4) {
      const args = [program, url, apiKey, name, file, String(capacity), JSON.stringify(TICK_TYPE)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      children.add(child);
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      return {
        name,
        async kill() {
          child.kill('SIGKILL');
          await exited;
          children.delete(child);
        },
        freeze: () => void child.kill('SIGSTOP'),
        thaw: () => void child.kill('SIGCONT'),
      };
    },
    // A line that was cut off by a kill is no tick.
    ticks: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Tick] : [])),
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      children.clear();
    },
  };
}

export interface Performance {
  readonly invocationId: string;
  readonly worker: string;
  readonly lease: number;
  readonly first: number;
  readonly last: number;
}

/** A worker that has a task under one lease, from its first tick to its last. */
export function performances(ticks: readonly Tick[]): Performance[] {
  const found = new Map<string, { -readonly [Key in keyof Performance]: Performance[Key] }>();
  for (const { invocationId, worker, lease, at } of ticks) {
    const key = `${invocationId} ${worker} ${lease}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { invocationId, worker, lease, first: at, last: at });
    else known.last = at;
  }
  return [...found.values()];
}

/** Performances of one task that began before the one before them had ended, with that. */
export function performedByTwo(ticks: readonly Tick[]): [Performance, Performance][] {
  const last = new Map<string, Performance>();
  const found: [Performance, Performance][] = [];
  for (const next of performances(ticks).sort((a, b) => a.first - b.first)) {
    const before = last.get(next.invocationId);
    if (before !== undefined && next.first <= before.last) found.push([before, next]);
    last.set(next.invocationId, next);
  }
  return found;
}

/** A way between a worker and its host that can be cut without either hearing of it. */
export interface Wire {
  readonly url: string;
  /** Nothing passes any more. */
  cut(): void;
  /** What was cut is reset, and new connections pass. */
  mend(): void;
  close(): Promise<void>;
}

export async function openWire(port: () => number): Promise<Wire> {
  const pairs = new Set<[Socket, Socket]>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(port(), '127.0.0.1');
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of pair) {
      socket.on('error', end);
      socket.on('close', end);
    }
    near.on('data', (bytes: Buffer) => void (isCut || far.write(bytes)));
    far.on('data', (bytes: Buffer) => void (isCut || near.write(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const drop = (): void => {
    for (const [near, far] of [...pairs]) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
    },
    mend() {
      drop();
      isCut = false;
    },
    async close() {
      drop();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
