/**
 * The folder of a host's packs: `pack-lock.json`, the archives that it names, and `trust.json`, which only the operator writes.
 *
 * J-2. A pack that is refused changes nothing: the archive is in the folder before the lockfile names it, and the lockfile is replaced
 *      in one step.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  createWasmThreads,
  findWalls,
  type HostOffer,
  type LockEntry,
  lockfileText,
  NO_TRUST,
  type OpenedPack,
  openJavaScriptPack,
  openTrustedPack,
  openWasmPack,
  PACK_LIMITS,
  PackError,
  readLockfile,
  readTrust,
  type Trust,
} from '@weft/packs';
import { AGENT_TOOL_SCOPES } from '@weft/protocol';
import { unusable } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { readIfThere, writeBytes } from './pack-files.ts';
import { commonFolder } from './tenant-folders.ts';

const LOCKFILE = 'pack-lock.json';
const TRUST_FILE = 'trust.json';
const MAX_DOCUMENT = 4 * 1024 * 1024;

/**
 * What this version of Weft runs on this machine. Code in JavaScript is run where the system keeps it in, or where each pack was
 * chosen by the operator: by its digest, or by its name.
 */
export async function offerOf({ trust }: Pick<PackFolder, 'trust'>): Promise<HostOffer> {
  const isChosen = trust.mode === 'pinned' || trust.mode === 'allowlist';
  const runsJavaScript = isChosen || (await findWalls()).isWalled;
  return {
    openwop: '1.0.0',
    languages: runsJavaScript ? ['wasm', 'javascript'] : ['wasm'],
    toolScopes: AGENT_TOOL_SCOPES,
  };
}

export interface PackFolder {
  readonly path: string;
  readonly trust: Trust;
  readonly packs: readonly LockEntry[];
}

/** Throws PackError when one of its files is wrong. */
export async function openPackFolder(cwd: string, given: string): Promise<PackFolder> {
  const path = resolve(cwd, given);
  const lockfile = await readIfThere(join(path, LOCKFILE), MAX_DOCUMENT);
  const trust = await trustIn(path);
  return {
    path,
    packs: lockfile === undefined ? [] : readLockfile(lockfile.toString('utf8')).packs,
    trust: trust === undefined ? NO_TRUST : readTrust(trust.toString('utf8')),
  };
}

async function trustIn(path: string): Promise<Buffer | undefined> {
  const own = await readIfThere(join(path, TRUST_FILE), MAX_DOCUMENT);
  const common = commonFolder(path);
  if (own !== undefined || common === undefined) return own;
  return readIfThere(join(common, TRUST_FILE), MAX_DOCUMENT);
}

export interface NewPack {
  readonly opened: OpenedPack;
  readonly archive: Uint8Array;
  readonly signature: Uint8Array | undefined;
}

/** Other versions of the same pack stay. */
export async function addPack(
  folder: PackFolder,
  { opened, archive, signature }: NewPack,
): Promise<LockEntry> {
  const { manifest, integrity, signed } = opened;
  const { name, version, dependencies, peerDependencies } = manifest;
  const there = folder.packs.find((other) => other.name === name && other.version === version);
  if (there !== undefined && there.integrity !== integrity)
    throw new PackError(
      'pack_integrity_failure',
      `${name} ${version} is installed with other bytes. A version never changes: remove it first (weft pack rm), or raise the version.`,
    );
  const entry: LockEntry = {
    name,
    version,
    resolved: `${name}-${version}.tgz`,
    integrity,
    ...(signed !== undefined &&
      signature !== undefined && {
        signature: {
          algorithm: 'ed25519' as const,
          publicKey: signed.publicKey,
          value: Buffer.from(signature).toString('base64'),
        },
      }),
    ...(dependencies !== undefined && { dependencies }),
    ...(peerDependencies !== undefined && { peerDependencies }),
  };
  const text = lockfileText([...folder.packs.filter((other) => other !== there), entry], now());
  try {
    await mkdir(folder.path, { recursive: true });
  } catch (cause) {
    throw unusable('folder_unwritable', `${folder.path} cannot be made: ${reasonOf(cause)}.`, cause);
  }
  await replace(join(folder.path, entry.resolved), archive);
  await replace(join(folder.path, LOCKFILE), text);
  return entry;
}

/** Throws PackError when there is no such pack, or another one depends on it. */
export async function removePacks(folder: PackFolder, gone: readonly LockEntry[]): Promise<void> {
  const text = lockfileText(
    folder.packs.filter((entry) => !gone.includes(entry)),
    now(),
  );
  await replace(join(folder.path, LOCKFILE), text);
  for (const { resolved } of gone) await rm(join(folder.path, resolved), { force: true });
}

/** Opens an installed pack again, as strictly as when it was installed. Throws PackError. */
export async function loadPack(folder: PackFolder, entry: LockEntry, offer: HostOffer): Promise<OpenedPack> {
  const { name, version, integrity, signature } = entry;
  const archive = await readIfThere(join(folder.path, entry.resolved), PACK_LIMITS.compressed);
  if (archive === undefined)
    throw new PackError(
      'pack_lockfile_incomplete',
      `${name} ${version} is in pack-lock.json, and ${entry.resolved} is not there. Install it again.`,
    );
  const source = {
    archive,
    integrity,
    name,
    version,
    ...(signature !== undefined && { signature: Buffer.from(signature.value, 'base64') }),
  };
  return openTrustedPack(source, folder.trust, offer, Date.now(), 'load');
}

/** Whether its code is what its manifest says, asked in a thread or a process of its own. Throws PackError. */
export async function checkCode(pack: OpenedPack): Promise<void> {
  if (pack.manifest.nodes.length === 0) return;
  if (pack.manifest.runtime.language === 'javascript') return (await openJavaScriptPack(pack)).stop();
  const threads = createWasmThreads(1);
  try {
    await openWasmPack(pack, threads);
  } finally {
    await threads.stop();
  }
}

async function replace(path: string, bytes: Uint8Array | string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeBytes(draft, bytes, 'wx');
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function now(): string {
  return new Date().toISOString();
}
