import { type Endpoint, ENDPOINTS, type OperationId } from '@weft/protocol';
import type { FastifyInstance, RouteHandlerMethod, RouteShorthandOptions } from 'fastify';
import { sendAnswer } from '../app-context.ts';
import type { Operation } from '../call.ts';
import type { Access, Guard } from './guard.ts';
import { untilLeft } from './until-left.ts';

export type ServeOptions = Access & Pick<RouteShorthandOptions, 'bodyLimit' | 'onRequest' | 'preParsing'>;

/** Registers the handler of an operation where the table of endpoints has it, behind the guard that it needs. */
export interface Serve {
  (operationId: OperationId, handler: RouteHandlerMethod): void;
  (operationId: OperationId, options: ServeOptions, handler: RouteHandlerMethod): void;
  /** The same for what other doors serve as well. */
  everywhere(operationId: OperationId, access: Access, operation: Operation): void;
}

export interface ServedOperation {
  readonly access: Access;
  /** Absent where each door answers in its own way, a piece at a time. */
  readonly operation?: Operation;
}

export type ServedOperations = ReadonlyMap<OperationId, ServedOperation>;

/** Takes the handlers of all operations, and throws when one has none. Other doors look up here what they share. */
export function serveOperations(
  app: FastifyInstance,
  guard: Pick<Guard, 'options'>,
  register: (serve: Serve) => void,
): ServedOperations {
  const served = new Map<OperationId, ServedOperation>();

  function add(
    operationId: OperationId,
    { isNewWork = false, ofRun = false, before, onRequest, ...options }: ServeOptions,
    handler: RouteHandlerMethod,
    operation?: Operation,
  ): void {
    const access: Access = { isNewWork, ofRun, ...(before !== undefined && { before }) };
    const { method, path, alias }: Endpoint = ENDPOINTS[operationId];
    for (const each of alias === undefined ? [path] : [path, alias])
      app.route({
        method,
        url: patternOf(each),
        ...options,
        ...(onRequest !== undefined && { onRequest }),
        ...guard.options(operationId, access),
        handler,
      });
    served.set(operationId, { access, ...(operation !== undefined && { operation }) });
  }

  register(
    Object.assign(
      (operationId: OperationId, ...given: [RouteHandlerMethod] | [ServeOptions, RouteHandlerMethod]) => {
        if (given.length === 1) add(operationId, {}, given[0]);
        else add(operationId, ...given);
      },
      {
        everywhere(operationId: OperationId, access: Access, operation: Operation) {
          add(
            operationId,
            access,
            async (call, reply) => sendAnswer(reply, await operation(call, () => untilLeft(reply))),
            operation,
          );
        },
      },
    ),
  );
  const unserved = Object.keys(ENDPOINTS).filter((operationId) => !served.has(operationId as OperationId));
  if (unserved.length > 0) throw new Error(`No handler serves ${unserved.join(', ')}.`);
  return served;
}

/** A path as the router writes it: colons twice, and a parameter before a verb ends where the verb begins. */
function patternOf(path: string): string {
  return path
    .replaceAll(':', '::')
    .replaceAll(/\{(\w+)\}(::)?/g, (_, name: string, verb = '') =>
      verb === '' ? `:${name}` : `:${name}(^[^:]+)::`,
    );
}
