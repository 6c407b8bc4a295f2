import { derivedUuid } from '../../crypto/hash.ts';

/** The id of an imported run: a UUID (version 8) made from its tenant and the bundle, so that the same bundle is imported once. */
export function importRunId(tenant: string, bundleDigest: string): string {
  return derivedUuid(`weft-import\n${tenant}\n${bundleDigest}`);
}
