import { createHash } from 'node:crypto';
import { type Capabilities, canonicalJson, type Json } from '@weft/protocol';
import type { Routes } from '../../app-context.ts';
import { isUnchanged, UNCHANGED } from '../../http/etag.ts';

/** The discovery document. Public, whatever Authorization header comes along. */
export const discoveryRoutes: Routes = (serve, context) => {
  let described: Capabilities | undefined;
  let body = '';
  let etag = '';

  serve.everywhere('getCapabilities', {}, async (call) => {
    const current = context.host.capabilities();
    if (current !== described) {
      described = current;
      body = JSON.stringify(current);
      etag = `"${createHash('sha256')
        .update(canonicalJson(current as Json))
        .digest('hex')
        .slice(0, 32)}"`;
    }
    const headers = { 'cache-control': 'public, max-age=300', etag, 'capabilities-etag': etag };
    return isUnchanged(call, etag) ? { ...UNCHANGED, headers } : { status: 200, body, headers };
  });
};
