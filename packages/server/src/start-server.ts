import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface ListenOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** How long pending answers may take at shutdown. Open streams and long polls are ended at once. */
  readonly graceMs?: number;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Stops listening, ends streams, lets answers finish within the grace time, then closes what is left. */
  shutdown(): Promise<void>;
}

const IDLE_CHECK_MS = 25;

export async function startServer(app: FastifyInstance, options: ListenOptions): Promise<RunningServer> {
  await app.listen({ host: options.host, port: options.port });
  const { port } = app.server.address() as AddressInfo;
  const name = options.host.includes(':') ? `[${options.host}]` : options.host;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${name}:${port}`,
    port,
    shutdown() {
      closed ??= close(app, options.graceMs ?? 1_500);
      return closed;
    },
  };
}

async function close(app: FastifyInstance, graceMs: number): Promise<void> {
  // A connection that was busy when closing began is idle afterwards, and nothing else would end it.
  const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  const force = setTimeout(() => app.server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(force);
  }
}
