import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { GRPC_STATUS, HostError, toEnvelope } from '@weft/protocol';
import type { GrpcStream } from './grpc-call.ts';
import { DETAILS_KEY, statusOf } from './status.ts';

/**
 * What the library does below the handlers, done as this host does it: a status that it gives by itself carries an envelope like any
 * other, and a stream whose reader takes nothing can be reset, for which the library has no call.
 */
export interface Transport {
  readonly interceptor: ServerInterceptor;
  reset(stream: GrpcStream): void;
}

type Status = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

export function createTransport(maxMessageBytes: number): Transport {
  const below = new WeakMap<Metadata, object>();
  return {
    interceptor: (_method, call) => {
      const send = call.sendStatus.bind(call);
      call.sendStatus = (status: Status) => {
        send(enveloped(status, maxMessageBytes));
        setImmediate(() => endBothSides(transportOf(call)));
      };
      return new ServerInterceptingCall(call, {
        start: (next) => {
          next({
            onReceiveMetadata(metadata, pass) {
              below.set(metadata, call);
              pass(metadata);
            },
          });
        },
      });
    },
    reset({ metadata }) {
      transportOf(below.get(metadata))?.close(ENHANCE_YOUR_CALM);
    },
  };
}

/** Of HTTP/2: nothing is wrong; and: the peer costs more than it should. */
const NO_ERROR = 0;
const ENHANCE_YOUR_CALM = 11;

/** What the library keeps to itself: the stream of HTTP/2 below a call. */
interface TransportStream {
  readonly readableEnded: boolean;
  readonly closed: boolean;
  close(code: number): void;
}

function transportOf(call: object | undefined): TransportStream | undefined {
  const stream: unknown = call === undefined ? undefined : Reflect.get(call, 'stream');
  return isTransportStream(stream) ? stream : undefined;
}

function isTransportStream(value: unknown): value is TransportStream {
  return typeof value === 'object' && value !== null && 'close' in value && typeof value.close === 'function';
}

/** A caller that has its status and keeps sending would keep its stream for ever. */
function endBothSides(stream: TransportStream | undefined): void {
  if (stream !== undefined && !stream.readableEnded && !stream.closed) stream.close(NO_ERROR);
}

/** A deadline and a cancelled call are no errors of the host and keep their status as it is. */
const AS_THEY_ARE: readonly number[] = [GRPC_STATUS.OK, GRPC_STATUS.CANCELLED, GRPC_STATUS.DEADLINE_EXCEEDED];

function enveloped(status: Status, maxMessageBytes: number): Status {
  if (AS_THEY_ARE.includes(status.code) || status.metadata?.get(DETAILS_KEY).length) return status;
  return statusOf(toEnvelope(meant(status, maxMessageBytes)));
}

/** In our words, what the library refuses by itself: messages that are too long, and bytes that are no frames of messages. */
function meant(
  { code, details }: { readonly code: number; readonly details?: string },
  limit: number,
): HostError {
  switch (code) {
    case GRPC_STATUS.RESOURCE_EXHAUSTED:
      return new HostError('payload_too_large', `The message is larger than ${limit} bytes.`, {
        maxRequestBodyBytes: limit,
        limit,
      });
    case GRPC_STATUS.UNIMPLEMENTED:
      return new HostError(
        'unsupported_encoding',
        'Send the message as it is, or packed as gzip or deflate.',
        {
          supported: ['identity', 'gzip', 'deflate'],
        },
      );
    case GRPC_STATUS.INTERNAL:
      return new HostError(
        'validation_error',
        /timeout/.test(details ?? '')
          ? 'The metadata grpc-timeout is not a timeout.'
          : 'The message could not be unpacked.',
        { field: /timeout/.test(details ?? '') ? 'grpc-timeout' : 'body' },
      );
    default:
      return new HostError('internal_error', 'The host failed.');
  }
}
