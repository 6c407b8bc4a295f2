import { constants } from 'node:fs';
import { access, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AuditAnchor, AuditAnchorError, readSeal, type Seal } from '@weft/engine';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import { CliError, EXIT, unusable } from './exit-code.ts';
import { reasonOf } from './key-values.ts';

/** The last seal of an audit log, and the key that it is to be checked with. */
export interface Anchored extends Seal {
  /** SPKI, DER, base64. */
  readonly publicKey: string;
}

const FORMAT = 'weft-audit-anchor';
/** Whoever may write it can put an older seal in its place. */
const WRITABLE_BY_OTHERS = 0o022;

/** An anchor in a file, which is not secret but must not be writable by others. */
export async function openAnchorFile(path: string, publicKey: string): Promise<AuditAnchor> {
  const folder = dirname(path);
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw unusable('audit_anchor_unusable', `${folder} cannot be written to: ${reasonOf(cause)}.`, cause);
  });
  return {
    read: () => readAnchorFile(path),
    write: (seal) => writeWhole(path, { format: FORMAT, version: 1, ...seal, publicKey }),
  };
}

/** Undefined when there is none. Throws AuditAnchorError when what is there is none. */
export async function readAnchorFile(path: string): Promise<Anchored | undefined> {
  const handle = await openExisting(path);
  if (handle === undefined) return undefined;
  try {
    const { mode } = await handle.stat();
    if (process.platform !== 'win32' && (mode & WRITABLE_BY_OTHERS) !== 0)
      throw new CliError(
        EXIT.unmet,
        'audit_anchor_exposed',
        `${path} can be written by other users. Close it with: chmod 600 ${path}`,
      );
    const value = parsed(await handle.readFile('utf8'));
    const seal = readSeal(value);
    const publicKey = isJsonObject(value) && value['format'] === FORMAT ? value['publicKey'] : undefined;
    if (seal === undefined || typeof publicKey !== 'string')
      throw new AuditAnchorError(`${path} does not hold the seal of an audit log.`);
    return { ...seal, publicKey };
  } finally {
    await handle.close();
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In its place whole or not at all, and durable, its name too. */
async function writeWhole(path: string, content: object): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(content)}\n`);
    await handle.sync();
    await handle.close();
    await rename(draft, path);
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // said by whoever finds no seal in it
  }
}
