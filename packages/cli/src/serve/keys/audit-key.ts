import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { DataFolder } from '../../connecting/data-folder.ts';
import { CliError, EXIT } from '../../exit-code.ts';
import { provideKeyFile } from './key-file.ts';

const VARIABLE = 'WEFT_AUDIT_KEY';
const HOLDS = 'an Ed25519 private key (PKCS #8, PEM or base64 of DER)';
const MAKE = 'openssl genpkey -algorithm ed25519 -outform DER | base64 -w0';

/**
 * The key that signs checkpoints of the audit log, and nothing else: from WEFT_AUDIT_KEY, or from a file in the folder that is
 * made on the first start. It must stay the same: what was signed with another key no longer verifies. Kept outside the
 * folder, it protects the log also from those who can write to the folder.
 */
export async function provideAuditKey(
  env: Readonly<Record<string, string | undefined>>,
  folder: DataFolder,
): Promise<KeyObject> {
  const given = env[VARIABLE];
  if (given !== undefined && given !== '') {
    const key = parse(given);
    if (key !== undefined) return key;
    const message = `${VARIABLE} must be ${HOLDS}. Make one with: ${MAKE}`;
    throw new CliError(EXIT.unmet, 'audit_key_invalid', message);
  }
  return provideKeyFile({ path: auditKeyFile(folder), code: 'audit_key', holds: HOLDS, make, parse });
}

export function auditKeyFile(folder: DataFolder): string {
  return join(folder.root, 'audit.key');
}

function make(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
}

function parse(text: string): KeyObject | undefined {
  try {
    const key = text.includes('-----BEGIN')
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.from(text, 'base64'), type: 'pkcs8', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined; // whatever OpenSSL dislikes about it, the answer is the same and must not quote the key
  }
}
