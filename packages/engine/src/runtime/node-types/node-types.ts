import type { TypeMappings } from './type-mappings.ts';
import type { NodeTypeDocument } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { EffectNodeType, StepsNodeType } from '../../model/node-type.ts';

/** A node type of a user as the store keeps it, for ever. */
export interface RegisteredNodeType extends NodeTypeDocument {
  /** SHA-256 over the canonical form of its schemas and secrets, hex. */
  readonly digest: string;
  readonly registeredAt: number;
}

/**
 * Node types of users, by tenant.
 *
 * N-1. (tenant, type id, version) names one digest of schemas for ever.
 * N-2. A type once served stays known, whether a worker serves it or not.
 * N-3. What one request registers becomes known all at once or not at all, also when processes register at the same time.
 */
export interface NodeTypes {
  /**
   * Makes types known. All or none: throws `validation_error` for a schema that cannot be used, with its place, and
   * `node_type_conflict` for a version with other schemas, unless `dev`: then it becomes `VERSION+<8 hex>`.
   */
  register(
    caller: Caller,
    types: readonly NodeTypeDocument[],
    options: { readonly dev: boolean },
  ): Promise<readonly RegisteredNodeType[]>;
  /** Everything that is known now, to be asked without waiting. */
  read(tenant: string): Promise<TenantNodeTypes>;
  /** One version, or the newest: of those that `isServed` if there are any, else of all that are known. */
  find(tenant: string, typeId: string, version?: string): Promise<RegisteredNodeType | undefined>;
  /** Every version of one type, or of all, by type id and version, the newest last. */
  list(tenant: string, typeId?: string): Promise<readonly RegisteredNodeType[]>;
  /** As the compiler and the performer take it. */
  asNodeType(type: RegisteredNodeType): EffectNodeType | StepsNodeType;
  /**
   * Has workers of version `to` perform the tasks of `version`; without `to` its own do again. Throws `not_found` for a version that is
   * not known, and `validation_error` where it would lead back to itself.
   */
  map(caller: Caller, typeId: string, version: string, to?: string): Promise<void>;
  /** The version whose workers perform the tasks of `version`: mostly itself. What another process mapped is seen within a second. */
  resolveServed(tenant: string, typeId: string, version: string): Promise<string>;
  /** The other versions whose tasks workers of these perform. */
  mappedTo: TypeMappings['leadingTo'];
  /** Called when this process has registered or mapped something, or has noticed that another one did. Returns the way to stop. */
  watch(onChange: (tenant: string) => void): () => void;
}

/** The node types of one tenant. */
export interface TenantNodeTypes {
  get(typeId: string, version: string): RegisteredNodeType | undefined;
  /** Of those that `isServed` if there are any, else of all that are known. */
  newest(typeId: string): RegisteredNodeType | undefined;
  /** In order of version, the newest last. */
  versions(typeId: string): readonly RegisteredNodeType[];
  /** By type id, then by version. */
  all(): readonly RegisteredNodeType[];
}

/** Which types have a worker now, on any process; the workers say it. */
export interface ServedTypes {
  isServed(tenant: string, typeId: string, version: string): boolean;
}
