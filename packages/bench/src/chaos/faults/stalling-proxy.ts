import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a worker and its host. While it stalls, bytes wait on both sides, as behind a network that is gone for a while. */
export interface StallingProxy {
  readonly url: string;
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function openStallingProxy(targetPort: () => number): Promise<StallingProxy> {
  const sockets = new Set<Socket>();
  let isStalled = false;

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on('data', (chunk) => to.write(chunk));
    from.on('error', () => from.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (isStalled) from.pause();
  }

  const server = createServer((client) => {
    const target = connect(targetPort(), '127.0.0.1');
    join(client, target);
    join(target, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
