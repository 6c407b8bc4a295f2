const PACK_GUIDE = 'The table in the guide on packs says when it is given.';

/** Why a registry refuses an archive that is published to it. */
const REFUSED_ARCHIVE = [
  'invalid_pack_scope',
  'invalid_pack_name',
  'invalid_version',
  'tarball_gunzip_failed',
  'tarball_too_large',
  'tarball_entry_too_large',
  'tarball_manifest_too_large',
  'tarball_path_traversal',
  'tarball_tar_parse_failed',
  'tarball_manifest_missing',
  'tarball_manifest_not_json',
  'tarball_entry_missing',
  'invalid_manifest',
  'schema_ref_missing',
  'manifest_name_mismatch',
  'manifest_version_mismatch',
  'invalid_engines_range',
  'pack_integrity_failure',
  'signature_invalid',
  'signature_unknown_key',
  'keychain_invalid',
] as const;

/** Codes of a pack registry. */
export const PACK_ERRORS = {
  ...(Object.fromEntries(
    REFUSED_ARCHIVE.map((code) => [code, { status: 400, advice: `The pack is refused. ${PACK_GUIDE}` }]),
  ) as Readonly<Record<(typeof REFUSED_ARCHIVE)[number], { readonly status: 400; readonly advice: string }>>),
  invalid_body: { status: 400, advice: 'Send the bytes of the archive, as weft pack build wrote them.' },
  unpublish_window_expired: {
    status: 400,
    advice: 'A version can be taken back for 72 hours; after that, deprecate or yank it.',
  },
  pack_not_found: { status: 404, advice: 'Check the name; packs of private.* need a key of their tenant.' },
  pack_version_not_found: { status: 404, advice: 'Ask for one of the versions of the pack.' },
  signature_not_available: {
    status: 404,
    advice: 'There is no such version, or it has no signature to give.',
  },
  version_conflict: {
    status: 409,
    advice: 'The bytes of a version never change; raise the version and publish again.',
  },
} as const;
