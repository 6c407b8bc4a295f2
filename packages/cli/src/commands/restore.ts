import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { leaf } from '../parsing/command.ts';
import { type DataFolder, dataFolder } from '../connecting/data-folder.ts';
import { CliError, EXIT, unusable, usageError } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { shellCommand } from '../output/shell-command.ts';
import { shellWord } from '../output/shell-word.ts';
import { shown } from '../output/terminal-text.ts';

const SHOWN_PROBLEMS = 5;

export const restore = leaf({
  name: 'restore',
  summary: 'Restore a backup into a new data folder',
  examples: ['weft restore weft-2026-01-31.db --data /var/lib/weft-restored'],
  args: {
    file: { type: 'positional', description: 'The backup', required: true },
    data: {
      type: 'string',
      valueHint: 'DIR',
      description: 'The new data folder; must be empty or not exist',
    },
  },
  async run({ cli, args }) {
    if (args.data === undefined || args.data === '')
      throw usageError(`weft restore needs --data DIR, a folder that is empty or does not exist.`);
    const file = resolve(cli.io.cwd, args.file);
    const folder = dataFolder(cli.io.cwd, args.data);
    await makeEmpty(folder);
    await copyChecked(file, folder);
    const done = cli.json
      ? JSON.stringify({ file, dataFolder: folder.root })
      : `${folder.root}  restored from ${file}`;
    cli.io.stdout.write(shown`${done}\n`);
    if (!cli.json) cli.io.stderr.write(whatNext(folder));
    return EXIT.done;
  },
});

function whatNext({ root }: DataFolder): string {
  return (
    `Copy secrets.key and audit.key of the old folder into ${root}; without them, stored secrets cannot be decrypted and the audit log cannot be verified. API keys stay valid.\n` +
    `If the host has an audit anchor, accept this log: ${shellCommand('audit reanchor', [], '--reason TEXT')}\n` +
    `Start it: ${shellCommand('serve', [], `--data ${shellWord(root)}`)}\n` +
    `To invalidate every interrupt link from before the restore, run twice: ${shellCommand('keys rotate links', [])}\n` +
    'Do not run it together with the host of the backup: both would continue the same runs.\n'
  );
}

async function makeEmpty({ root }: DataFolder): Promise<void> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    if ((await readdir(root)).length === 0) return;
  } catch (cause) {
    throw unusable('data_folder_unusable', `${root} cannot be used: ${reasonOf(cause)}.`, cause);
  }
  throw new CliError(
    EXIT.unmet,
    'data_folder_not_empty',
    `${root} is not empty. Restore into a new folder; nothing was changed.`,
  );
}

/** Copied first, so that what was checked is what will be used; the database gets its name last. */
async function copyChecked(file: string, { root, database }: DataFolder): Promise<void> {
  const draft = `${database}.restoring`;
  try {
    await copyPrivately(file, draft);
    await check(file, draft);
    await rename(draft, database);
    await syncPath(root);
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) await rm(`${draft}${end}`, { force: true });
  }
}

async function copyPrivately(file: string, draft: string): Promise<void> {
  try {
    // Made first, so that it is its user's alone from the first byte on.
    await (await open(draft, 'wx', 0o600)).close();
    await copyFile(file, draft);
    await syncPath(draft);
  } catch (cause) {
    throw unusable('file_unreadable', `${file} cannot be copied: ${reasonOf(cause)}.`, cause);
  }
}

/** Header, version, every page and every log: a backup that is not whole must be found out now, not in a year. */
async function check(file: string, draft: string): Promise<void> {
  const { checkSqliteFile } = await import('@weft/storage');
  const findings = checkSqliteFile(draft);
  if (findings.length === 0) return;
  const shown = findings.slice(0, SHOWN_PROBLEMS).map(({ message }) => message.replaceAll(draft, file));
  const more = findings.length > SHOWN_PROBLEMS ? [`and ${findings.length - SHOWN_PROBLEMS} more`] : [];
  throw unusable('backup_damaged', `${file} cannot be restored: ${[...shown, ...more].join('; ')}`);
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
