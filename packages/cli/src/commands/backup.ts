import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { BackupContent } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../parsing/command.ts';
import { connect } from '../connecting/connection.ts';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { shown } from '../output/terminal-text.ts';

export const backup = leaf({
  name: 'backup',
  summary: 'Back up the database of a running host',
  examples: ['weft backup weft-2026-01-31.db', 'weft backup /backups/weft.db --data /var/lib/weft'],
  args: {
    file: { type: 'positional', description: 'Output file; must not exist', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const file = resolve(cli.io.cwd, args.file);
    const { client } = await connect(cli.io, args);
    const draft = `${file}.part-${randomBytes(4).toString('hex')}`;
    const handle = await openDraft(file, draft);
    try {
      const size = await save(await client.operations.backup(), handle, file);
      await name(draft, file);
      const done = cli.json ? JSON.stringify({ file, size }) : `${file}  ${size} bytes`;
      cli.io.stdout.write(shown`${done}\n`);
      if (!cli.json) cli.io.stderr.write(ABOUT_KEYS);
      return EXIT.done;
    } finally {
      await handle.close();
      await rm(draft, { force: true });
    }
  },
});

const ABOUT_KEYS =
  'The key of the stored secrets is not in the backup: keep secrets.key of the data folder in a separate place.\n';

/** Before the host is asked: a copy that cannot be saved is not worth making. */
async function openDraft(file: string, draft: string): Promise<FileHandle> {
  const existing = await open(file, 'r').catch(() => undefined);
  await existing?.close();
  if (existing !== undefined) throw exists(file);
  try {
    return await open(draft, 'wx', 0o600);
  } catch (cause) {
    throw unusable('cannot_save', `${file} cannot be written: ${reasonOf(cause)}.`, cause);
  }
}

async function save({ size, bytes }: BackupContent, handle: FileHandle, file: string): Promise<number> {
  let written = 0;
  const reader = bytes.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      await handle.writeFile(part.value);
      written += part.value.length;
    }
    await handle.sync();
  } catch (cause) {
    const isOfFile = cause instanceof Error && 'syscall' in cause;
    if (isOfFile) throw unusable('cannot_save', `${file} cannot be written: ${reasonOf(cause)}.`, cause);
    throw unusable('connection_broke', 'The connection was lost before the end. Try again.', cause);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (size === undefined || size === written) return written;
  throw unusable('connection_broke', 'The response was shorter than announced. Try again.');
}

/** The file gets its name only when all of it has come, and never in place of another one. */
async function name(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') throw exists(file);
    throw unusable('cannot_save', `${file} cannot be written: ${reasonOf(cause)}.`, cause);
  }
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function exists(file: string): CliError {
  return new CliError(EXIT.unmet, 'file_exists', `${file} already exists. Choose another file, or move it.`);
}
