import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createSseParser, isJsonObject, type JsonObject, type SseEvent, sseFrame } from '@weft/protocol';
import { answered } from './answers.ts';
import type { GrpcMutation, GrpcProxy } from './grpc-proxy.ts';
import type { Mutant, MutantMemory, ProxiedAnswer, ProxiedRequest } from './mutant.ts';

/** Headers that belong to one connection, or that change with the body. */
const HOP_HEADERS = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']);

export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** A host that is right in everything but in one thing. Without a mutant it changes nothing. */
export async function startProxy(target: string, mutant?: Mutant): Promise<Proxy> {
  const memory: MutantMemory = new Map();
  const grpc = mutant?.grpc === undefined ? undefined : await grpcProxy(target, mutant.grpc);
  const broken = grpc === undefined ? mutant : withEndpoint(mutant, grpc.endpoint);
  const server = createServer((incoming, outgoing) => {
    void pass(incoming, outgoing, { target, mutant: broken, memory }).catch(() => outgoing.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      grpc?.stop();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** In front of where the host itself says that gRPC is. Loaded here, because few mutants need it. */
async function grpcProxy(target: string, mutation: GrpcMutation): Promise<GrpcProxy | undefined> {
  const discovery = (await (await fetch(`${target}/.well-known/openwop`)).json()) as JsonObject;
  const { endpoint } = isJsonObject(discovery['grpc']) ? discovery['grpc'] : {};
  if (typeof endpoint !== 'string') return undefined;
  const { startGrpcProxy } = await import('./grpc-proxy.ts');
  return startGrpcProxy(endpoint, mutation);
}

function withEndpoint(mutant: Mutant | undefined, endpoint: string): Mutant | undefined {
  const moved = (families: JsonObject): JsonObject => ({
    ...families,
    ...(isJsonObject(families['grpc']) && { grpc: { ...families['grpc'], endpoint } }),
  });
  return (
    mutant && {
      ...mutant,
      answer: answered((discovery) => ({
        ...moved(discovery),
        ...(isJsonObject(discovery['capabilities']) && { capabilities: moved(discovery['capabilities']) }),
      })),
    }
  );
}

interface Setting {
  readonly target: string;
  readonly mutant: Mutant | undefined;
  readonly memory: MutantMemory;
}

async function pass(incoming: IncomingMessage, outgoing: ServerResponse, setting: Setting): Promise<void> {
  const { target, memory } = setting;
  const asked: ProxiedRequest = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: headersOf(Object.entries(incoming.headers)),
    body: await bodyOf(incoming),
  };
  const mutant = concerns(setting.mutant, asked) ? setting.mutant : undefined;
  const changed = mutant?.request?.(asked, memory) ?? asked;
  if ('instead' in changed) return write(outgoing, changed.instead);
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const response = await fetch(`${target}${changed.path}`, {
    method: changed.method,
    // What the client does not ask for is not asked for here either.
    headers: { 'accept-encoding': 'identity', ...changed.headers },
    redirect: 'manual',
    signal: gone.signal,
    ...(changed.body === '' ? {} : { body: encoded(changed) }),
  });
  const headers = headersOf(response.headers);
  if (headers['content-type']?.startsWith('text/event-stream') === true)
    return passStream(response, outgoing, headers, { mutant, memory });
  const answer: ProxiedAnswer = { status: response.status, headers, body: await response.text() };
  write(outgoing, mutant?.answer?.(answer, changed, memory) ?? answer);
}

function concerns(mutant: Mutant | undefined, { method, path }: ProxiedRequest): boolean {
  if (mutant === undefined) return false;
  return (mutant.on.method ?? method) === method && mutant.on.path.test(path);
}

async function passStream(
  response: Response,
  outgoing: ServerResponse,
  headers: Readonly<Record<string, string>>,
  { mutant, memory }: Pick<Setting, 'mutant' | 'memory'>,
): Promise<void> {
  const head = mutant?.answer?.({ status: response.status, headers, body: '' }, EVENT_STREAM, memory);
  outgoing.writeHead(head?.status ?? response.status, { ...(head?.headers ?? headers) });
  outgoing.flushHeaders();
  const send = (event: SseEvent): void => {
    const { id } = event;
    outgoing.write(sseFrame({ ...(id === undefined ? {} : { id }), event: event.event, data: event.data }));
  };
  const parser = createSseParser((event) => {
    for (const frame of mutant?.frame?.(event, memory) ?? [event]) send(frame);
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>)
    parser.push(decoder.decode(chunk, { stream: true }));
  if (mutant?.keepsStreamsOpen !== true) outgoing.end();
}

const EVENT_STREAM: ProxiedRequest = { method: 'GET', path: '', headers: {}, body: '' };

function write(outgoing: ServerResponse, { status, headers, body }: ProxiedAnswer): void {
  outgoing.writeHead(status, { ...headers });
  outgoing.end(body === '' ? body : encoded({ headers, body }));
}

/** Bodies are texts to mutants, however they travel. */
function encoded({ headers, body }: Pick<ProxiedAnswer, 'headers' | 'body'>): string | Uint8Array {
  return headers['content-encoding'] === 'gzip' ? gzipSync(body) : body;
}

function headersOf(entries: Iterable<readonly [string, string | readonly string[] | undefined]>) {
  const headers: Record<string, string> = {};
  for (const [name, value] of entries)
    if (!HOP_HEADERS.has(name) && value !== undefined) headers[name] = String(value);
  return headers;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return (incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('utf8');
}
