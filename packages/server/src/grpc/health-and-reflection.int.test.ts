import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { credentials, makeGenericClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GrpcHarness, openGrpcHarness } from '../testing/grpc-harness.ts';

let at: GrpcHarness;
beforeAll(async () => {
  at = await openGrpcHarness();
});
afterAll(() => at.close());

const require = createRequire(import.meta.url);

/** A client of one of the services that tools know, from the .proto of the package that brings it. */
function clientOf(packageName: string, file: string, service: string) {
  const folder = join(dirname(require.resolve(`${packageName}/package.json`)), 'proto');
  const loaded = loadSync(join(folder, file), { keepCase: true, enums: String });
  const Client = makeGenericClientConstructor(loaded[service] as ServiceDefinition, service);
  return new Client(`127.0.0.1:${at.grpcPort}`, credentials.createInsecure());
}

type Call = (request: object, done: (error: Error | null, value: object) => void) => void;

interface Duplex {
  write(request: object): void;
  end(): void;
  on(event: 'data', listener: (answer: Reflected) => void): Duplex;
}

interface Reflected {
  readonly list_services_response?: { readonly service: readonly { readonly name: string }[] };
  readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Uint8Array[] };
  readonly error_response?: { readonly error_message: string };
}

describe('tools learn without a key', () => {
  it.each(['', 'openwop.v1.Engine'])('that the service %j serves', async (service) => {
    const health = clientOf('grpc-health-check', 'health/v1/health.proto', 'grpc.health.v1.Health');

    const answer = await new Promise((resolve, reject) => {
      (health['check'] as Call).call(health, { service }, (error, value) =>
        error === null ? resolve(value) : reject(error),
      );
    });
    health.close();

    expect(answer).toEqual({ status: 'SERVING' });
  });

  it.each(['v1', 'v1alpha'])(
    'by reflection (%s) which services there are and what their messages hold',
    async (version) => {
      const service = `grpc.reflection.${version}.ServerReflection`;
      const client = clientOf(
        '@grpc/reflection',
        `../build/proto/grpc/reflection/${version}/reflection.proto`,
        service,
      );
      const stream = (client['ServerReflectionInfo'] as () => Duplex).call(client);
      const answers: Reflected[] = [];
      const both = new Promise<void>((resolve) => {
        stream.on('data', (answer) => {
          if (answers.push(answer) === 2) resolve();
        });
      });

      stream.write({ list_services: '' });
      stream.write({ file_containing_symbol: 'openwop.v1.Engine' });
      await both;
      stream.end();
      client.close();

      const [services, file] = answers;
      expect(services?.list_services_response?.service.map(({ name }) => name)).toContain(
        'openwop.v1.Engine',
      );
      expect(file?.error_response).toBeUndefined();
      const text = (file?.file_descriptor_response?.file_descriptor_proto ?? [])
        .map((bytes) => Buffer.from(bytes).toString('latin1'))
        .join();
      for (const { name } of protobuf.loadSync(protoFile()).lookupService('openwop.v1.Engine').methodsArray)
        expect(text).toContain(name);
      expect(text).toContain('last_sequence');
    },
  );
});

function protoFile(): string {
  return new URL('../../../protocol/documents/openwop.proto', import.meta.url).pathname;
}
