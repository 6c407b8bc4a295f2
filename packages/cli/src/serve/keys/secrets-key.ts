import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DataFolder } from '../../connecting/data-folder.ts';
import { CliError, EXIT } from '../../exit-code.ts';
import { provideKeyFile } from './key-file.ts';

const VARIABLE = 'WEFT_SECRETS_KEY';
const KEY_BYTES = 32;

/**
 * The key that encrypts the secrets of this folder: from WEFT_SECRETS_KEY, or from a file in the folder that is made on the
 * first start. A user who has both the folder and the key can read the secrets; a backup of the database alone is not enough.
 */
export async function provideSecretsKey(
  env: Readonly<Record<string, string | undefined>>,
  folder: DataFolder,
): Promise<Uint8Array> {
  const given = env[VARIABLE];
  if (given !== undefined && given !== '') {
    return (
      decode(given) ?? fail(`${VARIABLE} must be ${KEY_BYTES} bytes in base64url. Make one with: ${MAKE}`)
    );
  }
  return provideKeyFile({
    path: secretsKeyFile(folder),
    code: 'secrets_key',
    holds: `${KEY_BYTES} bytes in base64url`,
    make: () => randomBytes(KEY_BYTES).toString('base64url'),
    parse: decode,
  });
}

export function secretsKeyFile(folder: DataFolder): string {
  return join(folder.root, 'secrets.key');
}

const MAKE = `node -p "crypto.randomBytes(${KEY_BYTES}).toString('base64url')"`;

function decode(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64url');
}

function fail(message: string): never {
  throw new CliError(EXIT.unmet, 'secrets_key_invalid', message);
}
