import type { TSchema } from 'typebox';
import { AUDIT_ROUTES } from './audit-routes.ts';
import { CLUSTER_ROUTES } from './cluster-routes.ts';
import type { ErrorCode } from '../errors/errors.ts';
import { FORK_ROUTES } from './fork-routes.ts';
import { HOST_ROUTES } from './host-routes.ts';
import { PROBE_ROUTES } from './probe-routes.ts';
import { PROTOCOL_ROUTES } from './protocol-routes.ts';
import { DELIVERY_ROUTES, WEBHOOK_ROUTES } from './webhook-routes.ts';

/** One operation of the HTTP surface, as data: the OpenAPI document and the reference page are made from these. */
export interface Route {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Parameters in braces; verbs follow a colon. */
  readonly path: string;
  /** What the key must hold; null for a route without a key. */
  readonly scope: string | null;
  /** What it must hold in addition to that. */
  readonly alsoScope?: string;
  readonly summary: string;
  readonly query?: readonly Parameter[];
  readonly headers?: readonly Parameter[];
  readonly request?: { readonly schema: TSchema; readonly required: boolean };
  readonly responses: Readonly<Record<number, Answer>>;
  /** In addition to those that every route can give: 401, 403, 404 for a path, 429, 500, 503. */
  readonly errors: readonly ErrorCode[];
}

export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
}

export interface Answer {
  readonly description: string;
  readonly schema?: TSchema;
  readonly contentType?: 'application/json' | 'text/event-stream' | 'application/octet-stream' | 'text/plain';
}

export const ROUTES: readonly Route[] = [
  ...PROTOCOL_ROUTES,
  ...FORK_ROUTES,
  ...AUDIT_ROUTES,
  ...WEBHOOK_ROUTES,
  ...HOST_ROUTES,
  ...PROBE_ROUTES,
  ...DELIVERY_ROUTES,
  ...CLUSTER_ROUTES,
].map(withErrorsOfPath);

/** What is asked for in the path may be no id at all, and a run may have been removed. */
function withErrorsOfPath(route: Route): Route {
  if (!route.path.includes('{')) return route;
  const ofRun: ErrorCode[] = route.path.includes('{runId}') ? ['run_expired'] : [];
  return { ...route, errors: [...new Set<ErrorCode>([...route.errors, 'validation_error', ...ofRun])] };
}

/** The name under which Idempotency-Keys of an operation are kept, such as `POST /v1/runs`. */
export function operationOf(route: Route): string {
  return `${route.method} ${route.path}`;
}

export function route(operationId: string): Route {
  const found = ROUTES.find((candidate) => candidate.operationId === operationId);
  if (found === undefined) throw new Error(`There is no operation "${operationId}".`);
  return found;
}

/** Names in braces, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap((match) => match[1] ?? []);
}
