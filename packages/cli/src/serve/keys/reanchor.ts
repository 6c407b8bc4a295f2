import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AuditAnchorError, publicKeyText, type Reanchored, reanchorAudit, SYSTEM_CLOCK } from '@weft/engine';
import { openAnchorFile, readAnchorFile } from './audit-anchor-file.ts';
import type { Cli } from '../../parsing/command.ts';
import { dataFolder } from '../../connecting/data-folder.ts';
import { CliError, EXIT, unusable, usageError } from '../../exit-code.ts';
import { openStore, provideKeys } from '../store/host-store.ts';
import { createLog } from '../log.ts';
import { readSettings, type SettingSources } from '../settings/settings.ts';

/** Opens the store as a host would, so that no host can be at work on a folder meanwhile, and anchors its log again. */
export async function reanchorHost(
  { io, style }: Cli,
  flags: SettingSources['flags'],
  act: { readonly actor: string; readonly reason: string },
): Promise<Reanchored & { readonly file: string }> {
  const settings = await readSettings(io, flags);
  if (settings.auditAnchor === undefined)
    throw usageError('weft audit reanchor needs --audit-anchor FILE, as given to weft serve.');
  const file = resolve(io.cwd, settings.auditAnchor);
  const log = createLog(io.stderr, { level: 'warn', format: 'text', style });
  const folder = dataFolder(io.cwd, settings.data);
  if (settings.store === undefined) await mustExist(folder.database);
  const store = await openStore(settings, folder, log);
  try {
    const { auditKey } = await provideKeys(io.env, settings, { store, folder });
    const publicKey = publicKeyText(auditKey);
    await mustBeSealedWith(publicKey, file);
    const anchor = await openAnchorFile(file, publicKey);
    const tools = { store, anchor, key: auditKey, clock: SYSTEM_CLOCK, random: randomBytes, log };
    return { file, ...(await reanchorAudit(tools, act)) };
  } finally {
    await store.close();
  }
}

/** A mistyped folder must not become a new one. */
async function mustExist(database: string): Promise<void> {
  await access(database).catch((cause: unknown) => {
    throw unusable('data_folder_unusable', `There is no database at ${database}. See --data.`, cause);
  });
}

/** With a key that was made just now, nothing that was sealed before could be verified any more. */
async function mustBeSealedWith(publicKey: string, file: string): Promise<void> {
  const anchored = await readAnchorFile(file).catch((error: unknown) => {
    if (error instanceof AuditAnchorError) return undefined; // it is replaced
    throw error;
  });
  if (anchored === undefined || anchored.publicKey === publicKey) return;
  throw new CliError(
    EXIT.unmet,
    'audit_key_differs',
    `${file} was sealed with another audit key. Put the old audit.key back (or set WEFT_AUDIT_KEY); if it is lost, delete ${file} first.`,
  );
}
