import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { AuditVerification, ExportVerification } from '@weft/engine';
import { type Cli, HOST_ARGS, leaf } from '../../command.ts';
import { connect } from '../../connection.ts';
import { EXIT, type ExitCode, unusable, usageError } from '../../exit-code.ts';
import { reasonOf } from '../../key-values.ts';
import { printable } from '../../output/table.ts';

const SHOWN = 20;

export const verify = leaf({
  name: 'verify',
  summary: 'Check that nobody has changed the audit log',
  examples: [
    'weft audit verify',
    'weft audit verify --from 1000 --to 1999 --json',
    'weft audit verify --offline audit.ndjson --public-key KEY',
  ],
  args: {
    from: { type: 'string', valueHint: 'SEQ', description: 'First sequence; default the first there is' },
    to: { type: 'string', valueHint: 'SEQ', description: 'Last sequence; default the last there is' },
    offline: {
      type: 'string',
      valueHint: 'FILE',
      description: 'Verify a file of "weft audit export" instead; needs no host',
    },
    'public-key': {
      type: 'string',
      valueHint: 'KEY',
      description: 'With --offline: the key the host is known by (checkpointPublicKey in its discovery)',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    if (args.offline !== undefined) {
      if (args.from !== undefined || args.to !== undefined)
        throw usageError('--offline verifies the whole file; leave --from and --to out.');
      const found = await verifyFile(resolve(cli.io.cwd, args.offline), args['public-key']);
      return report(cli, found, offlineNotes(found, args['public-key'] !== undefined));
    }
    if (args['public-key'] !== undefined)
      throw usageError('--public-key goes with --offline; a host verifies with its own key.');
    const range = { ...sequence('fromSeq', '--from', args.from), ...sequence('toSeq', '--to', args.to) };
    const { client } = await connect(cli.io, args);
    return report(cli, await client.audit.verify(range), []);
  },
});

function sequence(name: 'fromSeq' | 'toSeq', flag: string, text: string | undefined): object {
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) throw usageError(`${flag} takes a sequence, 0 or more, not "${text}".`);
  return { [name]: Number(text) };
}

async function verifyFile(path: string, publicKey: string | undefined): Promise<ExportVerification> {
  // Here and not above: other commands start without the engine.
  const { createExportVerifier } = await import('@weft/engine');
  const verifier = createExportVerifier(publicKey);
  try {
    const lines = createInterface({
      input: createReadStream(path, 'utf8'),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    for await (const line of lines) verifier.line(line);
  } catch (cause) {
    throw unusable('file_unreadable', `${path} cannot be read: ${reasonOf(cause)}.`, cause);
  }
  return verifier.end();
}

function offlineNotes(found: ExportVerification, isKeyTrusted: boolean): readonly string[] {
  const notes = found.problems.slice(0, SHOWN).map((problem) => `The file: ${problem}.`);
  if (found.pending > 0)
    notes.push(
      `${found.pending} of ${found.entries} entries are pending: no link covers them, nothing proves them.`,
    );
  if (found.publicKey === undefined) notes.push('There was no key to check signatures with.');
  else if (!isKeyTrusted)
    notes.push(
      `The key came with the file, so a forger could have brought it. Compare it with the host's, or pass --public-key:\n  ${printable(found.publicKey)}`,
    );
  return notes;
}

function report(cli: Cli, found: AuditVerification, notes: readonly string[]): ExitCode {
  if (cli.json) cli.io.stdout.write(`${JSON.stringify(found)}\n`);
  else cli.io.stdout.write(`${[...summary(cli, found), ...notes].join('\n')}\n`);
  return found.chainValid ? EXIT.done : EXIT.failed;
}

function summary({ style }: Cli, found: AuditVerification): readonly string[] {
  const { fromSeq, toSeq, checkpoints, anomalies } = found;
  const covered = checkpoints.at(-1);
  const range = `sequences ${fromSeq} to ${toSeq}, ${checkpoints.length} signed checkpoints`;
  if (found.chainValid) {
    const signed = covered === undefined ? '' : `, signed up to ${covered.atSequence}`;
    return [`${style.green('intact')}  ${range}${signed}`];
  }
  const shown = anomalies
    .slice(0, SHOWN)
    .map(({ atSeq, actualPrevHash }) =>
      actualPrevHash === ''
        ? `  before sequence ${atSeq}: an entry without a record in the chain`
        : `  before sequence ${atSeq}: changed, removed or inserted since it was linked`,
    );
  const more = anomalies.length - shown.length;
  return [
    `${style.red('tampered with')}  ${range}`,
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...(found.checkpointsValid === false
      ? ['  a checkpoint is missing, or its root or signature is wrong']
      : []),
  ];
}
