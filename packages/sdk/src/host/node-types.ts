import { endpointOf, type JsonObject } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** A node type that definitions may use: one of the host, or a version of one that workers have served. */
export interface NodeTypeEntry {
  readonly typeId: string;
  /** Absent for types of the host. */
  readonly version?: string;
  readonly title?: string;
  readonly summary?: string;
  readonly category?: string;
  readonly role?: string;
  readonly builtin: boolean;
  /** Workers that serve it now. */
  readonly workers?: number;
  /** JSON Schemas. */
  readonly config: JsonObject;
  readonly inputs?: JsonObject;
  readonly outputs?: JsonObject;
  readonly secrets?: readonly string[];
  readonly digest?: string;
}

export interface NodeTypes {
  /** All of them, or the versions of one. */
  list(filter?: { readonly typeId?: string }): ListPromise<NodeTypeEntry>;
  /** Has workers of version `to` perform the tasks of `version`; without `to` its own do again. */
  map(typeId: string, mapping: { readonly version: string; readonly to?: string }): ApiPromise<void>;
}

export function createNodeTypes(transport: Transport): NodeTypes {
  return {
    list: (filter = {}) => wholeList(transport, endpointOf('listNodeTypes'), 'types', { ...filter }),
    map: (typeId, mapping) => transport.json(endpointOf('mapNodeType', { typeId }), { body: mapping }),
  };
}
