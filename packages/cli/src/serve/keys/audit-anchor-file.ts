import { constants } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AuditAnchor, AuditAnchorError, readSeal, type Seal } from '@weft/engine';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import { unusable } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { readPrivateFile } from '../../connecting/private-file.ts';

/** The last seal of an audit log, and the key that it is to be checked with. */
export interface Anchored extends Seal {
  /** SPKI, DER, base64. */
  readonly publicKey: string;
}

const FORMAT = 'weft-audit-anchor';
/** A user who may write it can put an older seal in its place. */
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

/** Undefined when there is none. Throws AuditAnchorError when the file holds something else. */
export async function readAnchorFile(path: string): Promise<Anchored | undefined> {
  const text = await readPrivateFile(path, 'audit_anchor', WRITABLE_BY_OTHERS);
  if (text === undefined) return undefined;
  const value = parsed(text);
  const seal = readSeal(value);
  const publicKey = isJsonObject(value) && value['format'] === FORMAT ? value['publicKey'] : undefined;
  if (seal === undefined || typeof publicKey !== 'string')
    throw new AuditAnchorError(`${path} does not hold the seal of an audit log.`);
  return { ...seal, publicKey };
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
    return undefined; // the caller finds no seal in it and says so
  }
}
