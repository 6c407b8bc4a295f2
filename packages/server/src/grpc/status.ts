import { Metadata, status } from '@grpc/grpc-js';
import {
  type EnvelopedError,
  ENVELOPE_TYPE,
  type ErrorCode,
  type ErrorEnvelope,
  ERRORS,
  grpcStatusOf,
} from '@weft/protocol';
import protobuf from 'protobufjs/minimal.js';

/** What a call ends with when it fails. */
export interface FailedStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** Where gRPC has details of a status: a google.rpc.Status, in the trailers. */
export const DETAILS_KEY = 'grpc-status-details-bin';

/** Trailers are headers, of which clients take some 8 KiB. */
const MAX_ENVELOPE_BYTES = 4_096;
const MAX_MESSAGE_CHARS = 1_024;

export function statusOf({ body, retryAfter }: Pick<EnvelopedError, 'body' | 'retryAfter'>): FailedStatus {
  const code = status[grpcStatusOf(codeOf(body))];
  const details = body.message.slice(0, MAX_MESSAGE_CHARS).toWellFormed();
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, rpcStatus(code, details, envelopeBytes(body)));
  if (retryAfter !== undefined) metadata.set('retry-after', String(retryAfter));
  return { code, details, metadata };
}

/** An envelope that was kept or rendered by an operation holds a code from the table. */
function codeOf({ error }: ErrorEnvelope): ErrorCode {
  return Object.hasOwn(ERRORS, error) ? (error as ErrorCode) : 'internal_error';
}

/** Whole, unless its details are longer than trailers may be. */
function envelopeBytes(envelope: ErrorEnvelope): Buffer {
  const whole = Buffer.from(JSON.stringify(envelope));
  if (whole.length <= MAX_ENVELOPE_BYTES) return whole;
  const { error, message, details } = envelope;
  const field = details?.['field'];
  const kept = {
    isTruncated: true,
    ...(typeof field === 'string' && { field: field.slice(0, MAX_FIELD_CHARS) }),
  };
  return Buffer.from(JSON.stringify({ error, message: message.slice(0, MAX_MESSAGE_CHARS), details: kept }));
}

const MAX_FIELD_CHARS = 256;

/** google.rpc.Status: int32 code = 1, string message = 2, repeated google.protobuf.Any details = 3. */
function rpcStatus(code: number, message: string, envelope: Buffer): Buffer {
  const writer = protobuf.Writer.create().uint32(8).int32(code).uint32(18).string(message);
  writer.uint32(26).fork().uint32(10).string(ENVELOPE_TYPE).uint32(18).bytes(envelope).ldelim();
  return Buffer.from(writer.finish());
}
