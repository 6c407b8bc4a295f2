import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type StatusObject,
} from '@grpc/grpc-js';
import { GRPC_SERVICE, grpcService, type Json, type JsonObject } from '@weft/protocol';
import { readEnvelope, writeEnvelope } from '../grpc/envelope.ts';
import { type JsonMessages, jsonMessages } from '../grpc/json-messages.ts';

/** How a call ends. */
export interface ProxiedEnd {
  readonly code: number;
  readonly envelope: Json | undefined;
}

/** What a mutant does to calls of one method; whatever it leaves out passes through unchanged. */
export interface GrpcMutation {
  readonly method: string;
  readonly request?: (request: JsonObject) => JsonObject;
  readonly metadata?: (sent: Metadata) => void;
  /** What is sent in place of a message. */
  readonly message?: (message: JsonObject, index: number) => readonly JsonObject[];
  readonly end?: (end: ProxiedEnd) => ProxiedEnd;
  /** A reader that leaves takes its run along. */
  readonly cancelsRuns?: boolean;
}

export interface GrpcProxy {
  readonly endpoint: string;
  stop(): void;
}

type Stream = ServerDuplexStream<Buffer, Buffer>;

/** The gRPC side of a host that is right in everything but in one thing. */
export async function startGrpcProxy(target: string, mutation: GrpcMutation): Promise<GrpcProxy> {
  const client = new Client(new URL(target).host, credentials.createInsecure());
  const server = new Server();
  const messages = jsonMessages();
  const names = grpcService().methods.map(({ name }) => name);
  server.addService(
    Object.fromEntries(names.map((name) => [name, rawMethod(name)])),
    Object.fromEntries(
      names.map((name) => [
        name,
        (stream: Stream) => {
          stream.once('data', (bytes: Buffer) => {
            const change = name === mutation.method ? mutation : { method: name };
            pass({ client, messages, mutation: change }, stream, bytes);
          });
        },
      ]),
    ),
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    endpoint: `grpc://127.0.0.1:${port}`,
    stop() {
      client.close();
      server.forceShutdown();
    },
  };
}

const asItIs = (bytes: Buffer): Buffer => bytes;

function rawMethod(name: string) {
  return {
    path: `/${GRPC_SERVICE}/${name}`,
    requestStream: true,
    responseStream: true,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}

interface Passing {
  readonly client: Client;
  readonly messages: JsonMessages;
  readonly mutation: GrpcMutation;
}

function pass({ client, messages, mutation }: Passing, stream: Stream, bytes: Buffer): void {
  const { method, request, metadata, message, end, cancelsRuns } = mutation;
  const types = messages.method(method);
  const document = messages.decode(types.request, bytes);
  const sent = stream.metadata.clone();
  metadata?.(sent);
  const asked = request === undefined ? bytes : messages.encode(types.request, request(document));
  const call = client.makeServerStreamRequest(`/${GRPC_SERVICE}/${method}`, asItIs, asItIs, asked, sent);
  let index = 0;
  call.on('data', (answer: Buffer) => {
    if (message === undefined) {
      stream.write(answer);
      return;
    }
    for (const each of message(messages.decode(types.response, answer), index))
      stream.write(messages.encode(types.response, each));
    index += 1;
  });
  call.on('error', () => undefined);
  call.on('status', (status: StatusObject) => {
    const { code, envelope } = changed(status, end);
    const trailers = new Metadata();
    writeEnvelope(trailers, code, envelope);
    if (code === 0) stream.end();
    else stream.emit('error', { code, details: status.details, metadata: trailers });
  });
  stream.on('cancelled', () => {
    call.cancel();
    if (cancelsRuns !== true) return;
    const cancel = messages.encode(messages.method('CancelRun').request, { runId: document['runId'] ?? '' });
    client.makeUnaryRequest(`/${GRPC_SERVICE}/CancelRun`, asItIs, asItIs, cancel, sent, () => undefined);
  });
}

function changed({ code, metadata }: StatusObject, end: GrpcMutation['end']): ProxiedEnd {
  const ended = { code, envelope: readEnvelope(metadata) };
  return end?.(ended) ?? ended;
}
