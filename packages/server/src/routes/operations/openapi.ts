import { createHash } from 'node:crypto';
import { openApiDocument } from '@weft/protocol';
import { type Routes, sendJson } from '../../app-context.ts';
import { isUnchanged, sendUnchanged } from '../../http/etag.ts';

/** The OpenAPI document. Made once, at the first question. */
export const openApiRoutes: Routes = (serve) => {
  let body = '';
  let etag = '';

  serve('getOpenApiSpec', (request, reply) => {
    if (body === '') {
      body = JSON.stringify(openApiDocument());
      etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    }
    reply.header('cache-control', 'public, max-age=300').header('etag', etag);
    return isUnchanged(request, etag) ? sendUnchanged(reply) : sendJson(reply, 200, body);
  });
};
