import {
  addKey,
  checkPackName,
  checkPackVersion,
  checkPublication,
  type KeyDocument,
  latestVersion,
  PackError,
} from '@weft/packs';
import type { PackFormat } from '@weft/engine';
import { type ErrorCode, ERRORS, HostError, type JsonObject } from '@weft/protocol';

/** How a host that is a registry reads packs. */
export const PACK_FORMAT: PackFormat = {
  checkName: (name) => refusing(() => checkPackName(name)),
  checkVersion: (version) => refusing(() => checkPackVersion(version)),
  latest: latestVersion,
  // What is kept was checked when it came in.
  addKey: (keys, key) => refusing(() => addKey(keys as readonly KeyDocument[], key)),
  async read({ keys, ...publication }) {
    try {
      const { manifest, integrity, signingMethod, manifestSignature } = await checkPublication({
        ...publication,
        keys: keys as readonly KeyDocument[],
      });
      return {
        manifest: JSON.parse(JSON.stringify(manifest)) as JsonObject,
        description: manifest.description,
        integrity,
        signingMethod,
        manifestSignature: manifestSignature && Buffer.from(manifestSignature).toString('base64'),
      };
    } catch (error) {
      throw refusal(error);
    }
  },
};

function refusing<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw refusal(error);
  }
}

/** The codes of packs are those of the protocol, where a registry gives them. */
function refusal(error: unknown): unknown {
  if (!(error instanceof PackError) || !Object.hasOwn(ERRORS, error.code)) return error;
  return new HostError(error.code as ErrorCode, error.message, error.details, { cause: error });
}
