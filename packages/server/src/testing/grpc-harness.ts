import type { AddressInfo } from 'node:net';
import type { ChannelOptions } from '@grpc/grpc-js';
import type { HostOptions } from '@weft/engine';
import { startGrpcServer } from '../grpc/grpc-server.ts';
import type { ServerOptions } from '../options.ts';
import { startServer } from '../start-server.ts';
import { connectGrpc, type GrpcClient } from './grpc-client.ts';
import { type Harness, openHarness } from './harness.ts';

/** A host with both doors open, and a client of the gRPC one. */
export interface GrpcHarness extends Harness, Omit<GrpcClient, 'call' | 'close'> {
  readonly rpc: GrpcClient['call'];
  /** Of HTTP. */
  readonly url: string;
  readonly grpcPort: number;
  connect(options?: ChannelOptions): GrpcClient;
  shutdownGrpc(): Promise<void>;
}

export async function openGrpcHarness(
  options: ServerOptions = {},
  hostOptions: Partial<HostOptions> = {},
): Promise<GrpcHarness> {
  // The client and its libraries are loaded in the process of the host, whose event loop is behind meanwhile.
  const limits = { maxLoopDelayMs: 60_000, ...hostOptions.limits };
  const at = await openHarness(options, undefined, undefined, { ...hostOptions, limits });
  const server = await startServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
  const grpc = await startGrpcServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
  const clients: GrpcClient[] = [];
  const connect = (channel: ChannelOptions = {}): GrpcClient => {
    // A connection of its own for each client.
    const client = connectGrpc(`127.0.0.1:${grpc.port}`, at.key, {
      'grpc.use_local_subchannel_pool': 1,
      ...channel,
    });
    clients.push(client);
    return client;
  };
  const { client, call, stream } = connect();
  return {
    ...at,
    client,
    rpc: call,
    stream,
    url: `http://127.0.0.1:${(at.app.server.address() as AddressInfo).port}`,
    grpcPort: grpc.port,
    connect,
    shutdownGrpc: () => grpc.shutdown(),
    async close() {
      for (const each of clients) each.close();
      await Promise.all([grpc.shutdown(), server.shutdown()]);
      await at.close();
    },
  };
}
