import type { FastifyReply } from 'fastify';
import type { Answered, Call } from '../call.ts';

/** An entity tag is quoted on the wire. */
export function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

/** True when If-None-Match names the tag (or anything); tags are compared without their weakness mark, as RFC 9110 says. */
export function isUnchanged(call: Call, etag: string): boolean {
  const header = call.headers['if-none-match'];
  if (typeof header !== 'string') return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

/** Without a body, with the headers that a 200 would carry. */
export const UNCHANGED: Answered = { status: 304, body: '' };

/** 304 without a body; headers that a 200 would carry are already set. */
export function sendUnchanged(reply: FastifyReply): FastifyReply {
  return reply.code(304).send();
}
