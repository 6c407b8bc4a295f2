import { Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { HostError } from '@weft/protocol';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';

/** What a body may be packed with. */
const CODINGS = ['gzip', 'identity'];

/**
 * A body as it was before it was packed, for a `preParsing` hook. What comes out is counted while it is made, so a small body
 * cannot become a large one: past the limit nothing more is unpacked. All that came in must belong to it.
 */
export function unpackedBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: RequestPayload,
  limit: number,
): RequestPayload {
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return payload;
  if (coding === 'gzip') return unzipped(payload, limit);
  reply.header('accept-encoding', CODINGS.join(', '));
  throw new HostError(
    'unsupported_encoding',
    'The body may be sent as it is, or with "Content-Encoding: gzip".',
    { field: 'Content-Encoding', supported: CODINGS },
  );
}

function unzipped(payload: RequestPayload, limit: number): RequestPayload {
  const gunzip = createGunzip();
  let received = 0;
  let made = 0;
  const bounded = new Transform({
    transform(piece: Buffer, _encoding, done) {
      made += piece.length;
      if (made > limit) done(tooLarge(limit, made));
      else done(null, piece);
    },
    // Zeros after the end are padding to zlib, which does not report them.
    flush: (done) => done(gunzip.bytesWritten === received ? null : notWhole()),
  });
  // Counted by Fastify against Content-Length, which is that of the packed body.
  Object.defineProperty(bounded, 'receivedEncodedLength', { get: () => received });

  payload.on('data', (piece: Buffer) => {
    received += piece.length;
  });
  payload.on('error', (cause: Error) => bounded.destroy(cause));
  gunzip.on('error', (cause) => bounded.destroy(notWhole(cause)));
  bounded.on('close', () => {
    payload.unpipe(gunzip);
    gunzip.destroy();
    // The rest is read and dropped, so that the answer reaches a client that still sends.
    payload.resume();
  });
  payload.pipe(gunzip).pipe(bounded);
  return bounded;
}

function tooLarge(limit: number, observed: number): HostError {
  return new HostError('payload_too_large', `The unpacked body is larger than ${limit} bytes.`, {
    maxRequestBodyBytes: limit,
    limit,
    observed,
  });
}

function notWhole(cause?: unknown): HostError {
  return new HostError(
    'validation_error',
    'The body is not whole gzip data, or something follows after its end.',
    { field: 'body' },
    cause === undefined ? {} : { cause },
  );
}
