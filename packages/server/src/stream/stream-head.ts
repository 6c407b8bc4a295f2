import type { FastifyReply } from 'fastify';

/** The head of an answer that is written by hand: what hooks have set so far, and what this answer adds. */
export function sendHead(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  setHead(reply, headers);
  reply.raw.flushHeaders();
}

/** The same head, but it is sent together with the first bytes of the body. */
export function setHead(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  const all: NodeJS.Dict<number | string | string[]> = reply.headers(headers).getHeaders();
  reply.raw.writeHead(200, all);
}
