import { createHmac } from 'node:crypto';
import { HostError } from '@weft/protocol';
import { type Routes, sendJson } from '../../app-context.ts';
import { plainAddress } from '../../http/public-url.ts';
import { queryOf, textParam } from '../../http/query.ts';

const NONCE = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * Proves to a client that can read the data folder that this is its host, before it sends the key that lies there. The proof names the address that the question has reached, so that no other host can relay it.
 */
export const identityRoutes: Routes = (serve, { settings }) => {
  serve('proveIdentity', (request, reply) => {
    const nonce = textParam(queryOf(request), 'nonce');
    if (nonce === undefined || !NONCE.test(nonce)) {
      throw new HostError(
        'validation_error',
        'The parameter "nonce" must be 16 to 128 characters of base64url.',
        { field: 'nonce' },
      );
    }
    if (settings.identity === undefined) {
      throw new HostError('not_found', 'This host has no data folder, so it cannot prove its identity.');
    }
    const { localAddress = '', localPort = 0 } = request.raw.socket;
    const hmac = createHmac('sha256', settings.identity)
      .update(`weft identity v1\n${nonce}\n${plainAddress(localAddress)}\n${localPort}`)
      .digest('base64url');
    return sendJson(reply, 200, JSON.stringify({ hmac }));
  });
};
