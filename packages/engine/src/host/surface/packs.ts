import type { JsonObject } from '@weft/protocol';
import type { Caller } from './caller.ts';

/**
 * A registry of packs. `vendor.*` and `community.*` are read by anyone; `private.*` only by callers of the tenant that has them: to
 * others they are not there. Throws HostError.
 */
export interface PackRegistry {
  /** Throws `invalid_pack_scope`, `invalid_pack_name`, and `invalid_version` where one is given. */
  check(name: string, version?: string): void;
  /** Whether reading needs a key. */
  isPrivate(name: string): boolean;
  index(caller: Caller | undefined, name: string): Promise<PackIndex>;
  manifest(caller: Caller | undefined, name: string, version: string): Promise<JsonObject>;
  archive(caller: Caller | undefined, name: string, version: string): Promise<PackArchive>;
  /** Throws `signature_not_available`, whatever the reason. */
  signature(caller: Caller | undefined, name: string, version: string): Promise<Uint8Array>;
  keychain(caller: Caller | undefined, name: string): Promise<PackKeychain>;
  search(caller: Caller | undefined, query: PackQuery): Promise<FoundPacks>;
  publish(
    caller: Caller,
    pack: NewPack,
  ): Promise<{ readonly isNew: boolean; readonly published: JsonObject }>;
  unpublish(caller: Caller, name: string, version: string): Promise<void>;
  /** Undefined takes it back. */
  deprecate(
    caller: Caller,
    name: string,
    version: string,
    note: DeprecationNote | undefined,
  ): Promise<JsonObject>;
  yank(caller: Caller, name: string, version: string, note: YankNote | undefined): Promise<JsonObject>;
  rotateKey(caller: Caller, name: string, key: JsonObject): Promise<PackKeychain>;
}

export interface NewPack {
  readonly name: string;
  readonly version: string;
  readonly archive: Uint8Array;
  readonly integrity?: string | undefined;
  readonly signature?: Uint8Array | undefined;
  readonly signingMethod?: string | undefined;
}

export interface DeprecationNote {
  readonly reason: string;
  readonly supersededBy?: string | undefined;
}

export interface YankNote {
  readonly reason: string;
  readonly advisoryUrl?: string | undefined;
}

export interface PackIndex {
  readonly name: string;
  readonly description: string;
  readonly versions: Readonly<Record<string, PackVersion>>;
  readonly latest: string | undefined;
}

/** Metadata of a version. Times are milliseconds. */
export interface PackVersion {
  readonly integrity: string;
  readonly size: number;
  readonly publishedAt: number;
  readonly signingMethod: 'manual' | 'none';
  readonly deprecation?: JsonObject | undefined;
  readonly yanked?: JsonObject | undefined;
}

export interface PackArchive {
  readonly integrity: string;
  readonly size: number;
  /** Over the archive, in base64; withheld of yanked versions. */
  readonly signature: string | undefined;
  /** Can be read once. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface PackKeychain {
  readonly namespace: string;
  readonly keys: readonly JsonObject[];
}

export interface PackQuery {
  readonly text: string;
  readonly cursor?: string | undefined;
}

export interface FoundPack {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Some of them; absent where it brings none. */
  readonly agents?: readonly JsonObject[] | undefined;
}

export interface FoundPacks {
  readonly rows: readonly FoundPack[];
  readonly nextCursor?: string | undefined;
}
