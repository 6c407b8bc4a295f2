import { createHash } from 'node:crypto';
import { type Capabilities, canonicalJson, type Json } from '@weft/protocol';
import type { Routes } from '../../app-context.ts';
import { sendJson } from '../../app-context.ts';
import { isUnchanged, sendUnchanged } from '../../http/etag.ts';

/** The discovery document. Public, whatever Authorization header comes along. */
export const discoveryRoutes: Routes = (serve, context) => {
  let described: Capabilities | undefined;
  let body = '';
  let etag = '';

  serve('getCapabilities', (request, reply) => {
    const current = context.host.capabilities();
    if (current !== described) {
      described = current;
      body = JSON.stringify(current);
      etag = `"${createHash('sha256')
        .update(canonicalJson(current as Json))
        .digest('hex')
        .slice(0, 32)}"`;
    }
    reply
      .header('cache-control', 'public, max-age=300')
      .header('etag', etag)
      .header('capabilities-etag', etag);
    return isUnchanged(request, etag) ? sendUnchanged(reply) : sendJson(reply, 200, body);
  });
};
