/**
 * The program of a process with the code of a pack. Its text is handed to Node as it is, so that the process needs no file: it imports
 * nothing but what Node brings. Nothing here keeps the pack from anything; that is the business of how the process is started.
 */
import { Socket } from 'node:net';
import type { CallContext, ChildError, FetchAnswer, FromChild, ToChild } from './sandbox-messages.ts';

interface PackedNode {
  readonly typeId: string;
  run(context: object): unknown;
}

const pipe = new Socket({ fd: 3, readable: true, writable: true });
const nodes = new Map<string, PackedNode>();
const calls = new Map<number, AbortController>();
const fetches = new Map<number, (message: Extract<ToChild, { kind: 'fetched' }>) => void>();
let fetched = 0;

function tell(message: FromChild): void {
  pipe.write(`${JSON.stringify(message)}\n`);
}

/** A program that its keeper has left ends. */
pipe.on('close', () => process.exit(1));
pipe.on('error', () => process.exit(1));
pipe.setEncoding('utf8');
let begun = '';
pipe.on('data', (text) => {
  const lines = (begun + String(text)).split('\n');
  begun = lines.pop() ?? '';
  for (const line of lines) take(JSON.parse(line) as ToChild);
});

function take(message: ToChild): void {
  switch (message.kind) {
    case 'load':
      load(message.code).then(
        () => tell({ kind: 'loaded', typeIds: [...nodes.keys()] }),
        (error: unknown) => tell({ kind: 'unloadable', message: errorOf(error).message }),
      );
      return;
    case 'call':
      void perform(message.id, message.typeId, message.context);
      return;
    case 'abort':
      calls.get(message.id)?.abort(new Error(message.reason));
      return;
    case 'fetched':
      fetches.get(message.id)?.(message);
  }
}

async function load(code: string): Promise<void> {
  const address = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const loaded = (await import(address)) as Readonly<Record<string, unknown>>;
  for (const value of Object.values(loaded).flat()) if (isNode(value)) nodes.set(value.typeId, value);
}

function isNode(value: unknown): value is PackedNode {
  if (typeof value !== 'object' || value === null) return false;
  const { typeId, run } = value as { readonly typeId?: unknown; readonly run?: unknown };
  return typeof typeId === 'string' && typeof run === 'function';
}

async function perform(id: number, typeId: string, context: CallContext): Promise<void> {
  const controller = new AbortController();
  calls.set(id, controller);
  const { signal } = controller;
  try {
    const node = nodes.get(typeId);
    if (node === undefined) throw new Error(`the pack does not define ${typeId}`);
    const outputs: unknown = await node.run({
      ...context,
      signal,
      emit: (text: unknown) => tell({ kind: 'emit', id, text }),
      log: (level: unknown, message: unknown) => tell({ kind: 'log', id, level, message }),
      heartbeat(details?: unknown) {
        signal.throwIfAborted();
        tell({ kind: 'heartbeat', id, ...(details !== undefined && { details: details as string }) });
      },
    });
    tell({ kind: 'done', id, outputs });
  } catch (error) {
    tell({ kind: 'failed', id, error: errorOf(error) });
  } finally {
    calls.delete(id);
  }
}

function errorOf(error: unknown): ChildError {
  if (!(error instanceof Error)) return { code: 'node_failed', message: String(error) };
  const { code, retryable, retryAfterMs, details } = error as Partial<ChildError>;
  const { message } = error;
  if (error.name !== 'NodeError' || typeof code !== 'string') return { code: 'node_failed', message };
  return {
    code,
    message,
    ...(retryable === true && { retryable }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(details !== undefined && { details }),
  };
}

/** The host performs it, under its own rules. */
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const body = new Uint8Array(await request.arrayBuffer());
  request.signal.throwIfAborted();
  fetched += 1;
  const id = fetched;
  const { answer, problem } = await new Promise<Extract<ToChild, { kind: 'fetched' }>>((resolve, reject) => {
    fetches.set(id, resolve);
    request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
    tell({
      kind: 'fetch',
      id,
      request: {
        url: request.url,
        method: request.method,
        headers: Object.fromEntries(request.headers),
        followRedirects: request.redirect === 'follow',
        ...(body.length > 0 && { body: Buffer.from(body).toString('base64') }),
      },
    });
  }).finally(() => fetches.delete(id));
  if (answer === undefined) throw new TypeError(`fetch failed: ${problem ?? 'no answer'}`);
  return responseOf(answer);
};

const WITHOUT_BODY = [101, 204, 205, 304];

function responseOf({ status, headers, body }: FetchAnswer): Response {
  const bytes = WITHOUT_BODY.includes(status) ? null : Buffer.from(body, 'base64');
  return new Response(bytes, { status, headers });
}
