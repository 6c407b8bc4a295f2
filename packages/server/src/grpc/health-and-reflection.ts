import type { Server } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { GRPC_SERVICE } from '@weft/protocol';
import { HealthImplementation } from 'grpc-health-check';
import protobuf from 'protobufjs';

export interface Services {
  addTo(server: Server): void;
  /** Says to those who watch the health that this host takes no more calls. */
  stop(): void;
}

/** What tools ask before they ask anything else: whether the host serves, and what its messages are. */
export function createServices(proto: string): Services {
  const { root } = protobuf.parse(proto, { keepCase: true });
  // The well-known types come with the library.
  for (const file of ['google/protobuf/empty.proto', 'google/protobuf/struct.proto'])
    root.addJSON(protobuf.common.get(file)?.nested ?? {});
  const health = new HealthImplementation({ '': 'SERVING', [GRPC_SERVICE]: 'SERVING' });
  const reflection = new ReflectionService(fromJSON(root.toJSON(), { keepCase: true }));
  return {
    addTo(server) {
      health.addToServer(server);
      reflection.addToServer(server);
    },
    stop() {
      for (const service of ['', GRPC_SERVICE]) health.setStatus(service, 'NOT_SERVING');
    },
  };
}
