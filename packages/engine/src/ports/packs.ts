import type { JsonObject } from '@weft/protocol';

/** What a registry must know about packs, given to a host as `HostOptions.packs`: the engine itself reads no archives. Throws HostError. */
export interface PackFormat {
  /** Throws `invalid_pack_scope`, `invalid_pack_name`. */
  checkName(name: string): void;
  /** Throws `invalid_version`. */
  checkVersion(version: string): void;
  /** Reads an archive from anyone and holds it to what was asked for. Throws what registries refuse with. */
  read(publication: PackPublication): Promise<ReadPack>;
  /** Which of them a range without bounds means; undefined of none. */
  latest(versions: readonly string[]): string | undefined;
  /** The keychain with one more key, which one of those before has signed, or which is the first. Throws `keychain_invalid`. */
  addKey(keys: readonly JsonObject[], key: JsonObject): readonly JsonObject[];
}

export interface PackPublication {
  readonly name: string;
  readonly version: string;
  readonly archive: Uint8Array;
  /** The digest that the archive must have, as the client sent it. */
  readonly integrity?: string | undefined;
  /** Over the archive. */
  readonly signature?: Uint8Array | undefined;
  /** Keys of the namespace; of none, any key may have signed. */
  readonly keys: readonly JsonObject[];
  readonly at: number;
}

export interface ReadPack {
  readonly manifest: JsonObject;
  readonly description?: string | undefined;
  /** `sha256-…` */
  readonly integrity: string;
  readonly signingMethod: 'manual' | 'none';
  /** Over the bytes of the manifest; base64. */
  readonly manifestSignature?: string | undefined;
}
