import { HostError } from '@weft/protocol';
import type { FastifyInstance, HTTPMethods } from 'fastify';
import type { AppContext } from '../app-context.ts';
import { sendError } from './errors.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Parts of the protocol that hosts may leave out, where it wants 501 and not 404; by the capability that this host does not have. */
const NOT_PROVIDED: readonly (readonly [path: RegExp, capability: string])[] = [
  [/^\/v1\/host\/workspace\/files(?:\/|$)/, 'workspace'],
  [/^\/v1\/trigger-subscriptions(?:\/|$)/, 'triggerBridge.ingestion'],
  [/^\/v1\/prompts(?:[/:]|$)/, 'prompts'],
  [/^\/v1\/content(?:\/|$)/, 'content'],
  [/^\/v1\/host\/sample\/a2a\/tasks(?:\/|$)/, 'a2a.durableTasks'],
];

/** Known verbs never come here, unless with another method than theirs. */
const UNKNOWN_VERB = /^\/v1\/runs\/[^/:]+:(?!(?:pause|resume|cancel|diff|fork)$)([a-z][a-z-]{0,40}|)$/;

/** Paths and methods that nothing serves. */
export function answerUnknownRoutes(app: FastifyInstance, context: AppContext): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';

    // Clients of a registry read a JSON 404 here as "there is a registry".
    if (path === '/v1/packs' || path.startsWith('/v1/packs/')) {
      return reply
        .code(404)
        .header('content-type', 'text/plain; charset=utf-8')
        .send('This host has no pack registry.\n');
    }
    if (!isVersioned(path)) {
      const problem = 'Operations live under /v1/; discovery is at /.well-known/openwop.';
      return sendError(
        reply,
        request,
        new HostError('validation_error', problem, { field: 'path' }),
        context,
      );
    }

    // A path that ends in an unknown verb also matches the resource itself; what to say is that the verb is wrong.
    const verb = UNKNOWN_VERB.exec(path)?.[1];
    if (verb !== undefined) {
      const problem = `Runs have no verb ":${verb}"; /v1/openapi.json lists those they have.`;
      return sendError(reply, request, new HostError('not_found', problem), context);
    }

    const capability = NOT_PROVIDED.find(([known]) => known.test(path))?.[1];
    if (capability !== undefined) {
      const problem = `This host does not provide ${capability}.`;
      const error = new HostError('capability_not_provided', problem, { capability });
      return sendError(reply, request, error, context);
    }

    const allowed = METHODS.filter((method) => app.findRoute({ method, url: path }) !== null);
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '));
      const problem = `${request.method} is not served here; use ${allowed.join(' or ')}.`;
      return sendError(reply, request, new HostError('method_not_allowed', problem), context);
    }
    const problem = 'Nothing is served at this path; /v1/openapi.json lists what is.';
    return sendError(reply, request, new HostError('not_found', problem), context);
  });
}

function isVersioned(path: string): boolean {
  return (
    path === '/v1' ||
    path.startsWith('/v1/') ||
    path.startsWith('/v1/runs:') ||
    path.startsWith('/.well-known/')
  );
}
