import { isUtf8 } from 'node:buffer';
import { HostError, type Json, parseStrictJson } from '@weft/protocol';
import type { FastifyInstance } from 'fastify';

/** JSON is the only body this host reads. An empty one is `undefined`; each route says what that means. */
export function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function parseBody(body: Buffer): Json | undefined {
  if (body.length === 0) return undefined;
  if (!isUtf8(body))
    throw new HostError('validation_error', 'The body must be JSON in UTF-8.', { field: 'body' });
  return parseStrictJson(body.toString('utf8'));
}
