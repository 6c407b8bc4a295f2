import { createHash } from 'node:crypto';
import {
  asyncApiDocument,
  HostError,
  openApiDocument,
  pathOf,
  protoDocument,
  schemaDocument,
} from '@weft/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathParam, type Routes, sendJson } from '../../app-context.ts';
import { isUnchanged, sendUnchanged } from '../../http/etag.ts';

/** The documents that describe this host, for any caller. */
export const documentRoutes: Routes = (serve) => {
  const send = createSender();

  serve('getOpenApiSpec', (request, reply) =>
    send(request, reply, pathOf('getOpenApiSpec'), () => JSON.stringify(openApiDocument())),
  );
  serve('getAsyncApiSpec', (request, reply) =>
    send(request, reply, pathOf('getAsyncApiSpec'), () => JSON.stringify(asyncApiDocument())),
  );
  serve('getProto', (request, reply) =>
    send(request, reply.type('text/plain; charset=utf-8'), pathOf('getProto'), protoDocument),
  );
  serve('getSchema', (request, reply) => {
    const schemaName = pathParam(request, 'schemaName');
    return send(request, reply, pathOf('getSchema', { schemaName }), () => {
      const document = schemaDocument(schemaName);
      if (document !== undefined) return JSON.stringify(document);
      throw new HostError(
        'not_found',
        `No schema has this name. ${pathOf('getOpenApiSpec')} has them all: RunSnapshot there is run-snapshot here.`,
      );
    });
  });
};

type Send = (request: FastifyRequest, reply: FastifyReply, path: string, make: () => string) => FastifyReply;

/** Each document is made at the first question, and kept: there are as many as there are names. */
function createSender(): Send {
  const kept = new Map<string, { readonly body: string; readonly etag: string }>();

  function read(path: string, make: () => string) {
    const known = kept.get(path);
    if (known !== undefined) return known;
    const body = make();
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    kept.set(path, { body, etag });
    return { body, etag };
  }

  return (request, reply, path, make) => {
    const { body, etag } = read(path, make);
    reply.header('cache-control', 'public, max-age=300').header('etag', etag);
    if (isUnchanged(request, etag)) return sendUnchanged(reply);
    return reply.hasHeader('content-type') ? reply.send(body) : sendJson(reply, 200, body);
  };
}
