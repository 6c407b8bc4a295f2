import { createHash } from 'node:crypto';
import { openApiDocument } from '@weft/protocol';
import { type Routes, sendJson } from '../../app-context.ts';
import { isUnchanged, sendUnchanged } from '../../http/etag.ts';

/** GET /v1/openapi.json. Made once, at the first question. */
export const openApiRoutes: Routes = (app) => {
  let body = '';
  let etag = '';

  app.get('/v1/openapi.json', (request, reply) => {
    if (body === '') {
      body = JSON.stringify(openApiDocument());
      etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    }
    reply.header('cache-control', 'public, max-age=300').header('etag', etag);
    return isUnchanged(request, etag) ? sendUnchanged(reply) : sendJson(reply, 200, body);
  });
};
