import { createHash, randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ArtifactContent, ArtifactSummary, Client } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { CliError, EXIT, type ExitCode, unusable, usageError } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { renderTable } from '../../output/table.ts';
import { shown } from '../../output/terminal-text.ts';

export const artifact = leaf({
  name: 'artifact',
  summary: 'List the artifacts of a run, or save one to a file',
  examples: ['weft runs artifact RUN', 'weft runs artifact RUN ARTIFACT -o report.pdf'],
  args: {
    run: RUN_ARG,
    artifact: { type: 'positional', description: 'Artifact id; without it they are listed', required: false },
    output: { type: 'string', alias: 'o', valueHint: 'FILE', description: 'Output file' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client, runId } = await connectToRun(cli.io, args);
    if (args.artifact === undefined) return list(cli, client, runId);
    if (args.output === undefined || args.output === '') {
      throw usageError('weft runs artifact needs -o FILE to save an artifact to.');
    }
    const file = resolve(cli.io.cwd, args.output);
    const content = await client.artifacts.open(runId, args.artifact);
    const saved = { file, mediaType: content.mediaType, ...(await save(content, file)) };
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(saved) : `${file}  ${saved.size} bytes`}\n`);
    return EXIT.done;
  },
});

async function list(cli: Cli, client: Client, runId: string): Promise<ExitCode> {
  const found: ArtifactSummary[] = [];
  for await (const artifact of client.artifacts.list(runId, { limit: 500 })) found.push(artifact);
  if (cli.json) {
    for (const each of found) cli.io.stdout.write(`${JSON.stringify(each)}\n`);
    return EXIT.done;
  }
  const table = renderTable<ArtifactSummary>(
    cli.style,
    [
      { title: 'ARTIFACT', value: (each) => each.artifactId },
      { title: 'NAME', value: (each) => each.name },
      { title: 'TYPE', value: (each) => each.mediaType },
      { title: 'BYTES', value: (each) => String(each.size) },
    ],
    found,
  );
  cli.io.stdout.write(`${table}\n`);
  return EXIT.done;
}

/** The file gets its name only when all of it has come and its digest is right. */
async function save(content: ArtifactContent, file: string): Promise<{ size: number; digest: string }> {
  const draft = `${file}.part-${randomBytes(4).toString('hex')}`;
  try {
    const saved = await write(content, draft);
    if (content.digest !== undefined && content.digest !== saved.digest) {
      throw new CliError(
        EXIT.unusable,
        'artifact_damaged',
        'The digest of the artifact does not match. Try again.',
      );
    }
    await rename(draft, file);
    return saved;
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const isOfFile = cause instanceof Error && 'syscall' in cause;
    if (isOfFile) throw unusable('cannot_save', `${file} cannot be written: ${reasonOf(cause)}.`, cause);
    throw unusable('connection_broke', 'The connection was lost before the end. Try again.', cause);
  } finally {
    await rm(draft, { force: true });
  }
}

async function write(content: ArtifactContent, draft: string): Promise<{ size: number; digest: string }> {
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(draft, 'wx', 0o666);
  const reader = content.bytes.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      hash.update(part.value);
      await handle.writeFile(part.value);
      size += part.value.length;
    }
    return { size, digest: hash.digest('hex') };
  } finally {
    await reader.cancel();
    await handle.close();
  }
}
