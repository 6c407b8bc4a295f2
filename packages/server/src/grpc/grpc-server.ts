import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { createGate } from '@weft/engine';
import { GRPC_SERVICE, grpcService, protoDocument } from '@weft/protocol';
import type { FastifyInstance } from 'fastify';
import { boundSockets } from '../http/http-server.ts';
import type { GrpcStream } from './grpc-call.ts';
import { createServices } from './health-and-reflection.ts';
import { serveCall } from './serve-call.ts';
import { createTransport } from './transport.ts';

export interface GrpcOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** How long pending answers may take at shutdown. Open streams are ended at once. */
  readonly graceMs?: number;
}

export interface RunningGrpcServer {
  readonly port: number;
  /** Stops listening, lets answers finish within the grace time, then closes what is left. */
  shutdown(): Promise<void>;
}

/** Of one connection. Clients open another one when they need more. */
const STREAMS_PER_CONNECTION = 100;
const IDLE_MS = 300_000;
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
/** Megabytes that the frames of one connection may take before it is ended. */
const SESSION_MEMORY_MB = 16;
const RECEIVING = { inAll: 64, perTenant: 16 };

/**
 * The gRPC door to the host behind an app that serves HTTP already. Keys, limits and operations are those of the app. Loaded only
 * where it is served: the libraries below it take time and memory.
 */
export async function startGrpcServer(
  app: FastifyInstance,
  options: GrpcOptions,
): Promise<RunningGrpcServer> {
  const { context } = app.shared;
  const { settings, log } = context;
  const { methods, messages } = grpcService();
  const transport = createTransport(settings.maxRequestBodyBytes);
  const server = new Server({
    'grpc.max_receive_message_length': settings.maxRequestBodyBytes,
    'grpc.max_send_message_length': settings.maxGrpcMessageBytes,
    'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION,
    'grpc.max_connection_idle_ms': IDLE_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc-node.max_session_memory': SESSION_MEMORY_MB,
    'grpc.enable_channelz': 0,
    interceptors: [transport.interceptor],
  });
  const services = createServices(protoDocument());
  const deps = {
    door: app.shared,
    messages,
    receiving: createGate(RECEIVING),
    // Not yet, perhaps: the port of HTTP may open after this one.
    http: () => app.server.address() as AddressInfo | null,
    reset: transport.reset,
  };
  server.addService(
    definitionOf(methods.map(({ name }) => name)),
    Object.fromEntries(
      methods.map((shape) => [shape.name, (stream: GrpcStream) => void serveCall(deps, shape, stream)]),
    ),
  );
  services.addTo(server);

  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    injector.injectConnection(socket);
  });
  boundSockets(listener, settings.maxConnections, log);
  await listen(listener, options);
  let closed: Promise<void> | undefined;
  return {
    port: (listener.address() as AddressInfo).port,
    shutdown() {
      services.stop();
      closed ??= close(server, listener, sockets, options.graceMs ?? DEFAULT_GRACE_MS);
      return closed;
    },
  };
}

const DEFAULT_GRACE_MS = 1_500;

/** Bytes in and out: messages are read and made where their caller and its limits are known. */
function definitionOf(names: readonly string[]): ServiceDefinition {
  const asTheyAre = (bytes: Buffer): Buffer => bytes;
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        path: `/${GRPC_SERVICE}/${name}`,
        requestStream: true,
        responseStream: true,
        requestSerialize: asTheyAre,
        requestDeserialize: asTheyAre,
        responseSerialize: asTheyAre,
        responseDeserialize: asTheyAre,
      },
    ]),
  );
}

function listen(listener: NetServer, { host, port }: GrpcOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen({ host, port }, () => {
      listener.off('error', reject);
      resolve();
    });
  });
}

async function close(
  server: Server,
  listener: NetServer,
  sockets: ReadonlySet<Socket>,
  graceMs: number,
): Promise<void> {
  const force = setTimeout(() => {
    server.forceShutdown();
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  try {
    await Promise.all([
      new Promise<void>((resolve) => void listener.close(() => resolve())),
      new Promise<void>((resolve) => server.tryShutdown(() => resolve())),
    ]);
  } finally {
    clearTimeout(force);
    server.forceShutdown();
    for (const socket of sockets) socket.destroy();
  }
}
