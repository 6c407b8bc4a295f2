import type { JsonObject } from '@weft/protocol';
import { NodeFailure, type NodeType, type Secrets } from '../../model/node-type.ts';

/** The secrets without which a node is not begun: those its config names, and its `credentialsRef` where the type takes one. */
export function requiredSecrets(
  { requiresSecrets, takesCredentialsRef }: NodeType,
  config: JsonObject,
  credentialsRef: string | undefined,
): readonly string[] {
  const named = requiresSecrets?.(config) ?? [];
  return takesCredentialsRef === true && credentialsRef !== undefined ? [credentialsRef, ...named] : named;
}

/**
 * Resolves what a node requires, before it touches the world. What comes back answers those from memory, so that one
 * performance sees one value even if the secret is set again meanwhile.
 */
export async function resolveRequired(secrets: Secrets, ids: readonly string[]): Promise<Secrets> {
  const values = new Map<string, string>();
  for (const id of ids) {
    if (!values.has(id)) values.set(id, await resolveOne(secrets, id));
  }
  return {
    async resolve(secretId) {
      return values.get(secretId) ?? secrets.resolve(secretId);
    },
  };
}

/** A host without secrets stays `credential_unavailable`; a secret that is not there is the one who runs the workflow's to set. */
async function resolveOne(secrets: Secrets, id: string): Promise<string> {
  try {
    return await secrets.resolve(id);
  } catch (error) {
    const isUnresolved =
      error instanceof NodeFailure &&
      error.code === 'credential_unavailable' &&
      error.details?.['capability'] === undefined;
    if (!isUnresolved) throw error;
    throw new NodeFailure('credential_required', error.message, { details: { requirement: id } });
  }
}
