import { type Endpoint, ENDPOINTS, type OperationId } from '@weft/protocol';
import type { FastifyInstance, RouteHandlerMethod, RouteShorthandOptions } from 'fastify';
import type { Access, Guard } from './guard.ts';

export type ServeOptions = Access & Pick<RouteShorthandOptions, 'bodyLimit' | 'onRequest' | 'preParsing'>;

/** Registers the handler of an operation where the table of endpoints has it, behind the guard that it needs. */
export interface Serve {
  (operationId: OperationId, handler: RouteHandlerMethod): void;
  (operationId: OperationId, options: ServeOptions, handler: RouteHandlerMethod): void;
}

/** Takes the handlers of all operations, and throws when one has none. */
export function serveOperations(app: FastifyInstance, guard: Guard, register: (serve: Serve) => void): void {
  const unserved = new Set(Object.keys(ENDPOINTS));
  register(
    (operationId: OperationId, ...given: [RouteHandlerMethod] | [ServeOptions, RouteHandlerMethod]) => {
      const [{ isNewWork = false, ofRun = false, ...options }, handler] =
        given.length === 1 ? [{}, given[0]] : given;
      const { method, path, alias }: Endpoint = ENDPOINTS[operationId];
      for (const each of alias === undefined ? [path] : [path, alias])
        app.route({
          method,
          url: patternOf(each),
          ...options,
          ...guard(operationId, { isNewWork, ofRun }),
          handler,
        });
      unserved.delete(operationId);
    },
  );
  if (unserved.size > 0) throw new Error(`No handler serves ${[...unserved].join(', ')}.`);
}

/** A path as the router writes it: colons twice, and a parameter before a verb ends where the verb begins. */
function patternOf(path: string): string {
  return path
    .replaceAll(':', '::')
    .replaceAll(/\{(\w+)\}(::)?/g, (_, name: string, verb = '') =>
      verb === '' ? `:${name}` : `:${name}(^[^:]+)::`,
    );
}
