import { isUtf8 } from 'node:buffer';
import { inTurns } from '@weft/engine';
import { HostError, type Json, parseStrictJson, strictJsonInSteps } from '@weft/protocol';
import type { FastifyInstance } from 'fastify';

/** A longer body is read in turns with everybody else's requests. */
const LARGE = 65_536;

/** JSON is the only body this host reads. An empty one is `undefined`; each route says what that means. */
export function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    try {
      if (bytes.length <= LARGE) done(null, bytes.length === 0 ? undefined : parseStrictJson(textOf(bytes)));
      else
        inTurns(request.caller?.tenant ?? '', strictJsonInSteps(textOf(bytes))).then(
          (value: Json) => done(null, value),
          done,
        );
    } catch (error) {
      done(error as Error);
    }
  });
}

function textOf(body: Buffer): string {
  if (!isUtf8(body))
    throw new HostError('validation_error', 'The body must be JSON in UTF-8.', { field: 'body' });
  return body.toString('utf8');
}
