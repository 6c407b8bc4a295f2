import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors/errors.ts';
import { name } from '../documents/schema-parts.ts';
import type { OperationId } from './endpoints.ts';
import type { ResponseHeaderName } from './response-headers.ts';

/** In place of a scope: any valid key will do. */
export const ANY_SCOPE = 'any';

/** One operation of the HTTP surface, as data: the OpenAPI document and the reference page are made from these. */
export interface RouteDescription {
  /** What the key must hold, or ANY_SCOPE; null for a route without a key. */
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
  readonly required?: true;
}

export interface Answer {
  readonly description: string;
  readonly schema?: TSchema;
  readonly contentType?:
    | 'application/json'
    | 'text/event-stream'
    | 'application/octet-stream'
    | 'text/plain'
    | 'application/x-ndjson'
    | '*/*';
  /** The same as JSON, for clients that accept nothing else. */
  readonly asJson?: TSchema;
  /** In addition to those that every answer has. */
  readonly headers?: readonly ResponseHeaderName[];
}

/** Rows for some of the endpoints. Keeps their ids in the type, so that the table of all rows knows which is missing. */
export function describeRoutes<Id extends OperationId>(
  rows: Readonly<Record<Id, RouteDescription>>,
): Readonly<Record<Id, RouteDescription>> {
  return rows;
}

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  description: 'The same key with the same content gets the first answer again, for 24 hours.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

/** Of signed links to questions. */
export const LINK_ERRORS = [
  'interrupt_not_found',
  'interrupt_already_resolved',
  'interrupt_expired',
] as const;

export const IDEMPOTENCY_ERRORS = ['idempotency_in_flight', 'idempotency_key_mismatch'] as const;

export const PAGE: readonly Parameter[] = [
  {
    name: 'limit',
    description: 'Rows in one answer. Default: 50.',
    schema: Type.Integer({ minimum: 1, maximum: 500 }),
  },
  { name: 'cursor', description: 'The nextCursor of the answer before.', schema: name },
];
