import { API_PREFIX, type Endpoint, ENDPOINTS, HostError, PACKS_PATH } from '@weft/protocol';
import type { FastifyInstance, HTTPMethods } from 'fastify';
import type { AppContext } from '../app-context.ts';
import { sendError } from './errors.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Parts of the protocol that hosts may leave out, where it wants 501 and not 404; by the capability that this host does not have. */
const NOT_PROVIDED: readonly (readonly [path: RegExp, capability: string])[] = [
  [/^\/v1\/host\/workspace\/files(?:\/|$)/, 'workspace'],
  [/^\/v1\/content(?:\/|$)/, 'content'],
  [/^\/v1\/host\/sample\/a2a\/tasks(?:\/|$)/, 'a2a.durableTasks'],
];

const RUN = ENDPOINTS.getRun.path;
const VERBS = Object.values<Endpoint>(ENDPOINTS)
  .flatMap(({ path, alias = path }) => [path, alias])
  .flatMap((path) => (path.startsWith(`${RUN}:`) ? [path.slice(RUN.length + 1)] : []));

/** Known verbs never come here, unless with another method than theirs. */
const UNKNOWN_VERB = new RegExp(
  `^${RUN.replace('{runId}', '[^/:]+')}:(?!(?:${VERBS.join('|')})$)([a-z][a-z-]{0,40}|)$`,
);

/** Paths and methods that nothing serves. */
export function answerUnknownRoutes(app: FastifyInstance, context: AppContext): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';

    // Clients of a registry read a JSON 404 here as "there is a registry".
    if (context.host.packs === undefined && `${path}/`.startsWith(`${PACKS_PATH}/`)) {
      return reply
        .code(404)
        .header('content-type', 'text/plain; charset=utf-8')
        .send('This host has no pack registry.\n');
    }
    if (!isVersioned(path)) {
      const problem = `Operations live under ${API_PREFIX}; discovery is at ${ENDPOINTS.getCapabilities.path}.`;
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
      const problem = `Runs have no verb ":${verb}"; ${ENDPOINTS.getOpenApiSpec.path} lists those they have.`;
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
    const problem = `Nothing is served at this path; ${ENDPOINTS.getOpenApiSpec.path} lists what is.`;
    return sendError(reply, request, new HostError('not_found', problem), context);
  });
}

function isVersioned(path: string): boolean {
  return `${path}/`.startsWith(API_PREFIX) || path.startsWith('/.well-known/');
}
