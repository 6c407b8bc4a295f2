import { HostError } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The origin for URLs in answers. A Host header is used only when it is a plain name or address with a port. */
export function createPublicUrl(configured: string | undefined): (request: FastifyRequest) => string {
  // Clients of one host nearly always send the same header: remember the last one that was checked.
  let checkedHost = '';
  let origin = '';

  return (request) => {
    if (configured !== undefined) return configured;
    const host = request.headers.host ?? '';
    if (host === checkedHost && host !== '') return origin;
    if (!HOST.test(host)) {
      throw new HostError(
        'validation_error',
        'The Host header must be a name or address, with an optional port.',
        {
          field: 'Host',
        },
      );
    }
    const secure = 'encrypted' in request.raw.socket && request.raw.socket.encrypted === true;
    checkedHost = host;
    origin = `${secure ? 'https' : 'http'}://${host}`;
    return origin;
  };
}
