import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '@weft/engine';
import { CliError, EXIT, unusable } from '../../exit-code.ts';

export interface HostKeys {
  readonly secretsKey: Uint8Array;
  readonly auditKey: KeyObject;
}

const BATCH_BYTES = 16;
const PAUSES_MS = [0, 50, 200, 1_000, 3_000, 5_000];

/**
 * Processes on one database must have the same keys: what one has encrypted or signed, the others read and verify. So the first
 * one leaves the keys' fingerprints there, and another one with other keys fails at its start, not at the first secret
 * that it cannot read.
 */
export async function fixKeys(
  store: Pick<Store, 'commit'>,
  { secretsKey, auditKey }: HostKeys,
): Promise<void> {
  const signing = createPublicKey(auditKey).export({ type: 'spki', format: 'der' });
  await fix(store, 'keys.secrets', fingerprint('weft secrets key', secretsKey), 'WEFT_SECRETS_KEY');
  await fix(store, 'keys.audit', fingerprint('weft audit key', signing), 'WEFT_AUDIT_KEY');
}

async function fix(
  store: Pick<Store, 'commit'>,
  name: string,
  value: string,
  variable: string,
): Promise<void> {
  for (const pauseMs of PAUSES_MS) {
    await pause(pauseMs);
    const batchId = randomBytes(BATCH_BYTES).toString('base64url');
    const [result] = await store.commit([{ kind: 'setting', batchId, name, value }]).catch(() => []);
    if (result?.state === 'committed') return;
    if (result?.state === 'refused' && result.reason === 'setting_conflict') {
      const message = `This database is used with another ${variable}. Give every host on it the same one, or the same --data folder.`;
      throw new CliError(EXIT.unmet, 'cluster_key_differs', message);
    }
    // The same value once more changes nothing, so a connection that was lost on the way is no reason to give up.
  }
  throw unusable('database_unusable', 'The database could not be written to at the start. Try again.');
}

/** The key has 256 bits of chance, so it cannot be guessed from this. */
function fingerprint(purpose: string, key: Uint8Array): string {
  return createHash('sha256').update(purpose).update(key).digest('hex').slice(0, 32);
}
