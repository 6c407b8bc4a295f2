import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AuditExportPage } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT, unusable } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { shellCommand } from '../../output/shell-command.ts';
import { shellWord } from '../../output/shell-word.ts';
import { shown } from '../../output/terminal-text.ts';
import { countText } from '../../output/count-text.ts';

export const exportLog = leaf({
  name: 'export',
  summary: 'Export the audit log of all tenants to a file that can be verified offline',
  examples: ['weft audit export -o audit.ndjson', 'weft audit export -o - | gzip > audit.ndjson.gz'],
  args: {
    output: {
      type: 'string',
      alias: 'o',
      valueHint: 'FILE',
      description: 'Output file; - for stdout',
      required: true,
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const pages = client.audit.export().pages();
    if (args.output === '-') {
      await writeLines(pages, async (text) => void cli.io.stdout.document(text));
      return EXIT.done;
    }
    const { entries, lines } = await save(resolve(cli.io.cwd, args.output), pages);
    const said = cli.json
      ? JSON.stringify({ file: args.output, entries, lines })
      : `${args.output}  ${cli.style.dim(`${countText(entries, 'entry', 'entries')}; verify it with: ${shellCommand('audit verify', [], `--offline ${shellWord(args.output)}`)}`)}`;
    cli.io.stdout.write(shown`${said}\n`);
    return EXIT.done;
  },
});

interface Written {
  readonly lines: number;
  readonly entries: number;
}

/** The last line counts those before it, so that a file that was cut is known for one. */
async function writeLines(
  pages: AsyncIterable<AuditExportPage>,
  write: (text: string) => Promise<void>,
): Promise<Written> {
  let lines = 0;
  let entries = 0;
  for await (const page of pages) {
    if (page.lines.length > 0) await write(`${page.lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    lines += page.lines.length;
    entries += page.lines.filter(({ kind }) => kind === 'entry').length;
  }
  await write(`${JSON.stringify({ kind: 'end', lines })}\n`);
  return { lines, entries };
}

/** Whole or not at all, and for the owner's eyes: the log names who did what. */
async function save(path: string, pages: AsyncIterable<AuditExportPage>): Promise<Written> {
  const unfinished = `${path}.${process.pid}.part`;
  const file = await onDisk(path, () => open(unfinished, 'w', 0o600));
  try {
    const written = await writeLines(pages, (text) => onDisk(path, () => append(file, text)));
    await onDisk(path, () => file.sync());
    await file.close();
    await onDisk(path, () => rename(unfinished, path));
    return written;
  } finally {
    await file.close();
    await rm(unfinished, { force: true });
  }
}

async function append(file: FileHandle, text: string): Promise<void> {
  await file.appendFile(text);
}

/** Says which file cannot be written; what the host answers keeps its own words. */
async function onDisk<Value>(path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    throw unusable('output_unwritable', `${path} cannot be written: ${reasonOf(cause)}.`, cause);
  }
}
