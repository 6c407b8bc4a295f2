import { createGunzip } from 'node:zlib';
import { pipeline, Readable } from 'node:stream';
import { HostError, type Json } from '@weft/protocol';
import type { FastifyRequest, RequestPayload } from 'fastify';
import { callerOf, type Routes, sendJson } from '../door.ts';

/** A bundle has at most 8 MiB; a little more for spaces that somebody has added. */
const MAX_BUNDLE_BYTES = 8 * 1024 * 1024 + 256 * 1024;

/** POST /v1/host/weft/imports: a debug bundle, as JSON or as gzipped JSON, becomes a run that is only read. */
export const importRoutes: Routes = (app, door) => {
  app.post(
    '/v1/host/weft/imports',
    {
      ...door.allow('importBundle', { isNewWork: true }),
      bodyLimit: MAX_BUNDLE_BYTES,
      preParsing: async (request: FastifyRequest, _reply, payload: RequestPayload) =>
        unpacked(request, payload),
    },
    async (request, reply) => {
      const body = request.body as Json | undefined;
      if (body === undefined)
        throw new HostError('validation_error', 'The body must be a debug bundle.', { field: 'body' });
      const { created, ...run } = await door.host.importBundle(callerOf(request), body);
      return sendJson(reply, created ? 201 : 200, JSON.stringify(run));
    },
  );
};

/** The limit counts what comes out as well as what comes in, so a small body cannot become a large one. */
function unpacked(request: FastifyRequest, payload: RequestPayload): RequestPayload {
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return payload;
  if (coding !== 'gzip')
    throw new HostError(
      'validation_error',
      'The body may be sent as it is, or with "Content-Encoding: gzip".',
      {
        field: 'Content-Encoding',
      },
    );
  let received = 0;
  payload.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const unzipped: RequestPayload = Readable.from(pieces(payload), { objectMode: false });
  Object.defineProperty(unzipped, 'receivedEncodedLength', { get: () => received });
  return unzipped;
}

async function* pieces(payload: RequestPayload): AsyncGenerator<Buffer, void, undefined> {
  const unzip = pipeline(payload, createGunzip(), () => undefined);
  try {
    for await (const piece of unzip) yield piece as Buffer;
  } catch (cause) {
    throw new HostError('validation_error', 'The body is not whole gzip data.', { field: 'body' }, { cause });
  }
}
