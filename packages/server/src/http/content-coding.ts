import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** Packing less than this saves nothing that matters, and packing more takes too long from others. */
const SMALLEST = 256;
const LARGEST = 256 * 1024;

/** Nearly as small as with more work, in a third of the time. */
const LEVEL = 1;

/** Packs JSON for readers who ask for it. Routes that write to the socket themselves pack by themselves. */
export function packAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || request.method === 'POST') return done(null, payload);
    if (!isJson(reply.getHeader('content-type'))) return done(null, payload);
    reply.header('vary', withAcceptEncoding(reply.getHeader('vary')));
    const { length } = payload;
    const isWorthIt = length >= SMALLEST && length <= LARGEST;
    if (!isWorthIt || !takesGzip(request.headers['accept-encoding'])) return done(null, payload);
    gzip(payload, { level: LEVEL }, (error, packed) => {
      if (error !== null) return done(error);
      reply.header('content-encoding', 'gzip').header('content-length', packed.length);
      done(null, packed);
    });
  });
}

function isJson(contentType: unknown): boolean {
  return typeof contentType === 'string' && contentType.startsWith('application/json');
}

function withAcceptEncoding(vary: unknown): string {
  return typeof vary === 'string' && vary !== '' ? `${vary}, accept-encoding` : 'accept-encoding';
}

export function takesGzip(header: string | string[] | undefined): boolean {
  return takesCoding(header, 'gzip');
}

/** The last word on the coding decides, `*` if there is none; without the header nothing is compressed. */
export function takesCoding(header: string | string[] | undefined, name: 'gzip' | 'br'): boolean {
  const codings = new Map(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map((coding) => {
        const [coded = '', ...parameters] = coding.split(';').map((part) => part.trim());
        const quality = parameters.find((parameter) => parameter.startsWith('q='));
        return [coded, quality === undefined ? 1 : Number(quality.slice(2))] as const;
      }),
  );
  return (codings.get(name) ?? codings.get('*') ?? 0) > 0;
}
