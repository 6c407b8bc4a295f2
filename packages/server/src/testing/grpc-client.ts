import { fileURLToPath } from 'node:url';
import {
  type ChannelOptions,
  type Client,
  credentials,
  type ClientReadableStream,
  makeGenericClientConstructor,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';
import type { JsonObject } from '@weft/protocol';
import protobuf from 'protobufjs';
import { documentOf } from './grpc-documents.ts';

/** A client as a stranger builds one: from the published .proto file, with the usual libraries, and nothing of ours. */
export interface GrpcClient {
  readonly client: Client;
  call(method: string, message?: object, options?: GrpcOptions): Promise<GrpcAnswer>;
  stream(method: string, message: object, options?: GrpcOptions): ClientReadableStream<JsonObject>;
  close(): void;
}

export interface GrpcOptions {
  /** `null` sends none. */
  readonly key?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
}

export interface GrpcAnswer {
  /** 0 when all went well. */
  readonly code: number;
  readonly details: string;
  /** What came before the message, and after it. */
  readonly metadata: Metadata;
  readonly trailers: Metadata;
  /** The message, with the names and values that JSON has. */
  readonly document: Loose;
  /** From the details of the status. */
  readonly envelope: Loose | undefined;
}

/** Read loosely, as a test does. */
export interface Loose {
  readonly [name: string]: Loose;
}

export const PROTO_FILE = fileURLToPath(
  new URL('../../../protocol/documents/openwop.proto', import.meta.url),
);
export const SERVICE = 'openwop.v1.Engine';

const OPTIONS = { keepCase: true, longs: Number, bytes: Buffer, oneofs: false } as const;

let loaded: ServiceDefinition | undefined;

function definition(): ServiceDefinition {
  loaded ??= loadSync(PROTO_FILE, OPTIONS)[SERVICE] as ServiceDefinition;
  return loaded;
}

export function connectGrpc(address: string, key: string, options: ChannelOptions = {}): GrpcClient {
  const service = definition();
  const Constructor = makeGenericClientConstructor(service, 'Engine');
  const client = new Constructor(address, credentials.createInsecure(), options);

  function sent({ key: as = key, metadata = {} }: GrpcOptions): Metadata {
    const all = new Metadata();
    if (as !== null) all.set('authorization', `Bearer ${as}`);
    for (const [name, value] of Object.entries(metadata)) all.set(name, value);
    return all;
  }

  const deadlineOf = ({ deadlineMs = 30_000 }: GrpcOptions) => ({ deadline: Date.now() + deadlineMs });

  return {
    client,
    close: () => client.close(),
    call(name, message = {}, callOptions = {}) {
      const method = service[name];
      if (method === undefined) throw new Error(`The .proto has no method ${name}.`);
      return new Promise((resolve) => {
        let metadata = new Metadata();
        let answer: JsonObject = {};
        let failure: ServiceError | null = null;
        client
          .makeUnaryRequest(
            method.path,
            method.requestSerialize,
            method.responseDeserialize,
            message,
            sent(callOptions),
            deadlineOf(callOptions),
            (error, value) => {
              failure = error;
              if (value !== undefined) answer = value as JsonObject;
            },
          )
          .on('metadata', (first: Metadata) => {
            metadata = first;
          })
          .on('status', ({ code, details, metadata: trailers }) => {
            const envelope = failure === null ? undefined : envelopeOf(trailers);
            const document: unknown = documentOf(answer);
            resolve({ code, details, metadata, trailers, document: document as Loose, envelope });
          });
      });
    },
    stream(name, message, callOptions = {}) {
      const method = service[name];
      if (method === undefined) throw new Error(`The .proto has no method ${name}.`);
      return client.makeServerStreamRequest(
        method.path,
        method.requestSerialize,
        (bytes: Buffer) => documentOf(method.responseDeserialize(bytes) as JsonObject) as JsonObject,
        message,
        sent(callOptions),
        deadlineOf(callOptions),
      );
    },
  };
}

const { root } = protobuf.parse(
  `syntax = "proto3"; message Any { string type_url = 1; bytes value = 2; }
   message Status { int32 code = 1; string message = 2; repeated Any details = 3; }`,
  { keepCase: true },
);

/** The JSON in the first detail of the status. */
export function envelopeOf(trailers: Metadata): Loose | undefined {
  const [bytes] = trailers.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(bytes)) return undefined;
  const decoded: unknown = root.lookupType('Status').decode(bytes);
  const { details } = decoded as {
    readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[];
  };
  const detail = details.find(({ type_url: type }) => type === 'openwop.dev/spec/v1/ErrorEnvelope');
  return detail && (JSON.parse(Buffer.from(detail.value).toString()) as Loose);
}
