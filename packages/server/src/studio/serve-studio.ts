import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Call } from '../call.ts';
import { asksForHtml } from '../http/accept.ts';
import { takesCoding } from '../http/content-coding.ts';
import { isUnchanged } from '../http/etag.ts';
import { INDEX, type StudioFile, type StudioFiles } from './studio-files.ts';

/**
 * Serves the web page below /studio/. Every URL that it names is relative, so it also works where a proxy puts a path before ours.
 *
 * K-14. Only what was read at the start is served, found by its exact name: no part of a request is ever used as a path of a file.
 */
export function serveStudio(
  app: FastifyInstance,
  studio: StudioFiles | 'not-built',
  checkHost: (call: Call) => void,
): void {
  const onRequest = async (call: Call) => checkHost(call);

  app.get('/', (request, reply) => {
    if (!asksForHtml(request.headers.accept)) return reply.callNotFound();
    checkHost(request);
    return reply.headers(POLICIES).code(302).header('location', 'studio/').send();
  });

  app.get('/studio', { onRequest }, (_, reply) =>
    reply.headers(POLICIES).code(308).header('location', 'studio/').send(),
  );

  app.get<{ Params: { '*': string } }>('/studio/*', { onRequest }, (request, reply) => {
    reply.headers(POLICIES);
    if (studio === 'not-built') return sendText(reply, 503, NOT_BUILT);
    const path = request.params['*'];
    const file = studio.get(path);
    if (file !== undefined && path !== INDEX) return sendFile(request, reply, file);
    return isPage(path)
      ? sendIndex(request, reply, studio, path)
      : sendText(reply, 404, 'There is no such file.\n');
  });
}

/** No script, style or frame but our own, and none of ours anywhere else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const POLICIES = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-cache',
} as const;

const FOR_EVER = 'public, max-age=31536000, immutable';

const NOT_BUILT = `The web page of this host is not built.

In a clone of the repository: npm run build -w packages/studio, then start the host again.
Without it everything else works: weft --help lists the commands.
`;

const DEEPEST_PAGE = 16;

/** What the page's own router may know. Files are asked for by exact names, so one that is missing is no page. */
function isPage(path: string): boolean {
  const parts = path.split('/');
  if (parts.length > DEEPEST_PAGE || path.startsWith('assets/')) return false;
  return parts.every((part) => part !== '..' && part !== '.' && !hasControlOrBackslash(part));
}

function hasControlOrBackslash(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f\\]/.test(text);
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: StudioFile): FastifyReply {
  if (file.isImmutable) reply.header('cache-control', FOR_EVER);
  reply.header('vary', 'accept-encoding').header('content-type', file.type);
  const { 'accept-encoding': accepted } = request.headers;
  const { br, gzip } = file.packed;
  if (br !== undefined && takesCoding(accepted, 'br')) {
    reply.header('content-encoding', 'br');
    return sendBytes(request, reply, br, `${file.etag}-br`);
  }
  if (gzip !== undefined && takesCoding(accepted, 'gzip')) {
    reply.header('content-encoding', 'gzip');
    return sendBytes(request, reply, gzip, `${file.etag}-gz`);
  }
  return sendBytes(request, reply, file.bytes, file.etag);
}

/** A page further down names the same files by going up first: a `base` element would be a way to lead scripts elsewhere. */
function sendIndex(
  request: FastifyRequest,
  reply: FastifyReply,
  studio: StudioFiles,
  path: string,
): FastifyReply {
  const file = studio.get(INDEX);
  if (file === undefined) throw new Error('a built page has an index');
  const depth = path.split('/').length - 1;
  if (depth === 0) return sendFile(request, reply, file);
  const up = '../'.repeat(depth);
  const text = file.bytes.toString().replaceAll(/\b(src|href)="\.\//g, (_, name: string) => `${name}="${up}`);
  reply.header('content-type', file.type);
  return sendBytes(request, reply, Buffer.from(text), `${file.etag}-${depth}`);
}

function sendBytes(request: FastifyRequest, reply: FastifyReply, bytes: Buffer, tag: string): FastifyReply {
  const etag = `"${tag}"`;
  reply.header('etag', etag);
  return isUnchanged(request, etag) ? reply.code(304).send() : reply.send(bytes);
}

function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('content-type', 'text/plain; charset=utf-8')
    .send(text);
}
