import type { JsonObject } from '@weft/protocol/plain';

/** Why a pack is refused: every code, and when it is given. The guide has the same table, and a test holds it to this one. */
export const PACK_CODES = {
  invalid_pack_name: 'the name is not SCOPE.OWNER.PACK in lower case',
  invalid_pack_scope: 'packs of core.* belong to the protocol, local.* is never packed',
  invalid_version: 'the version is not a semantic version',
  payload_too_large: 'the archive is over 10 MiB',
  tarball_gunzip_failed: 'the archive is not gzip, or damaged',
  tarball_too_large: 'it inflates to more than 50 MiB, or has more than 2,000 files',
  tarball_entry_too_large: 'a file is over 5 MiB',
  tarball_manifest_too_large: 'pack.json is over 256 KiB',
  tarball_path_traversal: 'a file has an absolute name, or one that leads out of the archive',
  tarball_tar_parse_failed:
    'the tar is damaged, or holds a link, a device, a name twice or bytes behind its end',
  tarball_manifest_missing: 'there is no pack.json',
  tarball_manifest_not_json: 'pack.json is not JSON in UTF-8',
  tarball_entry_missing:
    'the file that runtime.entry names is not in the archive, or does not define the node types',
  invalid_manifest: 'pack.json does not fit its schema; the field is named',
  schema_ref_missing: 'a schema that a node or an agent names is not in the archive, or cannot be used',
  manifest_name_mismatch: 'it is another pack than the one that was asked for',
  manifest_version_mismatch: 'it is another version than the one that was asked for',
  invalid_engines_range: 'engines.openwop is no range of versions, or this host is not in it',
  unsupported_runtime: 'this host does not run packs of this language, or not in this trust mode',
  unsupported_abi_version: 'the WASM module speaks another version of the ABI',
  wasm_module_invalid:
    'the WASM module does not compile, lacks exports, or wants imports that are not offered',
  unsupported_model_class: 'an agent asks for a class of models that the host does not have',
  unsupported_capability: 'an agent may call tools of a kind that this host does not have',
  pack_peer_dependency_missing: 'the host lacks a capability that the pack needs',
  pack_integrity_failure: 'the archive is not the one whose digest was given',
  pack_integrity_mismatch: 'the archive is not the one that the lockfile names',
  signature_not_available: 'the pack is not signed, and the trust mode wants a signature',
  signature_unknown_key: 'the key is not in the keychain for this name, not valid now, or revoked',
  signature_invalid: 'the signature does not fit the archive or its manifest',
  keychain_invalid: 'the trust file or a key in it cannot be used',
  pack_not_approved: 'the trust mode is allowlist, and the list does not name the pack',
  pack_not_pinned: 'the trust mode is pinned, and no digest was given',
  pack_dependency_conflict:
    'no installed version fits what a pack depends on, or two packs define one node type',
  pack_dependency_cycle: 'packs depend on each other in a circle',
  pack_lockfile_invalid: 'pack-lock.json cannot be read, or does not fit its schema',
  pack_lockfile_incomplete: 'a pack that another one depends on, or its archive, is not there',
  pack_version_not_found: 'no such version is installed, or in a registry',
  pack_not_found: 'no registry has the pack',
  pack_fetch_failed: 'a registry cannot be reached, or does not answer as one',
} as const satisfies Readonly<Record<string, string>>;

export type PackCode = keyof typeof PACK_CODES;

/** A pack that is refused as a whole. The message names what is wrong, and the way out. */
export class PackError extends Error {
  readonly code: PackCode;
  readonly details: JsonObject | undefined;

  constructor(
    code: PackCode,
    message: string,
    options: { readonly details?: JsonObject; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PackError';
    this.code = code;
    this.details = options.details;
  }
}
