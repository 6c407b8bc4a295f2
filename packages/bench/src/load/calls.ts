import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Target } from './http-connection.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves as soon as the first whole event has come. */
  readonly untilEvent?: true;
}

export interface Called {
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  /** The first 64 KiB. */
  readonly text: string;
}

const TEXT_KEPT = 65_536;
const PATIENCE_MS = 60_000;
const REFUSALS = 10;

/** One request from the bench's own process, timed from its first byte to the last one of the answer. */
export function call(
  target: Target,
  { method = 'GET', path, body, headers, untilEvent }: Call,
): Promise<Called> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: target.port,
        method,
        path,
        agent,
        headers: {
          authorization: `Bearer ${target.key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        let bytes = 0;
        const finish = () =>
          resolve({ status: response.statusCode ?? 0, ms: performance.now() - started, bytes, text });
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (text.length < TEXT_KEPT) text += chunk.toString('utf8');
          if (untilEvent !== true || !text.includes('\n\n')) return;
          finish();
          outgoing.destroy();
        });
        response.once('end', finish);
      },
    );
    outgoing.setTimeout(PATIENCE_MS, () =>
      outgoing.destroy(new Error(`${method} ${path} was silent for ${PATIENCE_MS / 1000} s`)),
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** The same, and an error for every other status. */
export async function expectCall(
  target: Target,
  asked: Call,
  ...statuses: readonly number[]
): Promise<Called> {
  const called = await call(target, asked);
  if (statuses.includes(called.status)) return called;
  throw new Error(`${asked.path} answered ${called.status}: ${called.text.slice(0, 300)}`);
}

/** A host that asks to be left alone for a moment is, as any client would do; a few times. */
export async function createRun(target: Target, workflowId: string): Promise<string> {
  const asked: Call = { method: 'POST', path: '/v1/runs', body: JSON.stringify({ workflowId }) };
  for (let refusals = 0; refusals < REFUSALS; refusals += 1) {
    const { status, text } = await expectCall(target, asked, 201, 503);
    if (status === 201) return (JSON.parse(text) as { runId: string }).runId;
    await pause(Number(/"retryAfter":(\d+)/.exec(text)?.[1] ?? 1) * 1000);
  }
  throw new Error(`the host has refused a run of ${workflowId} ${REFUSALS} times`);
}

export async function registerWorkflow(target: Target, definition: object): Promise<void> {
  const body = JSON.stringify(definition);
  await expectCall(target, { method: 'POST', path: '/v1/host/weft/workflows', body }, 200, 201);
}

export async function statusOf(target: Target, runId: string): Promise<string> {
  const { text } = await expectCall(target, { path: `/v1/runs/${runId}` }, 200);
  return /"status":"([^"]+)"/.exec(text)?.[1] ?? '';
}
