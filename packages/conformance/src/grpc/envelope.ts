import type { Metadata } from '@grpc/grpc-js';
import { ENVELOPE_TYPE, type Json } from '@weft/protocol';
import protobuf from 'protobufjs';

/** The error envelope among the details of a status: a google.rpc.Status in the trailers. */

const DETAILS = 'grpc-status-details-bin';

const { root } = protobuf.parse(`syntax = "proto3";
message Any { string type_url = 1; bytes value = 2; }
message Status { int32 code = 1; string message = 2; repeated Any details = 3; }`);
const Status = root.lookupType('Status');

interface StatusMessage {
  readonly code: number;
  readonly message: string;
  readonly details: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
}

/** As JSON; undefined where there is none, or none that can be read. */
export function readEnvelope(trailers: Metadata): Json | undefined {
  const [bytes] = trailers.get(DETAILS);
  if (!Buffer.isBuffer(bytes)) return undefined;
  try {
    const { details } = Status.toObject(Status.decode(bytes), { defaults: true }) as StatusMessage;
    const found = details.find(({ typeUrl }) => typeUrl === ENVELOPE_TYPE);
    return found && (JSON.parse(Buffer.from(found.value).toString('utf8')) as Json);
  } catch {
    return undefined;
  }
}

/** Puts one in place of the one that is there. */
export function writeEnvelope(trailers: Metadata, code: number, envelope: Json | undefined): void {
  trailers.remove(DETAILS);
  if (envelope === undefined) return;
  const details = [{ typeUrl: ENVELOPE_TYPE, value: Buffer.from(JSON.stringify(envelope)) }];
  trailers.set(
    DETAILS,
    Buffer.from(Status.encode(Status.fromObject({ code, message: '', details })).finish()),
  );
}
