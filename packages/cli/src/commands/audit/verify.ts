import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { AuditVerification, ExportVerification } from '@weft/engine';
import type { Client } from '@weft/sdk';
import type { Anchored } from '../../serve/keys/audit-anchor-file.ts';
import { type Cli, HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { CliError, EXIT, type ExitCode, unusable, usageError } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { visibleText } from '../../output/terminal-text.ts';
import { countText } from '../../output/count-text.ts';

const SHOWN = 20;

export const verify = leaf({
  name: 'verify',
  summary: 'Verify that the audit log is unchanged',
  examples: [
    'weft audit verify',
    'weft audit verify --from 1000 --to 1999 --json',
    'weft audit verify --offline audit.ndjson --public-key KEY',
    'weft audit verify --audit-anchor /mnt/safe/one.anchor,/mnt/safe/two.anchor',
  ],
  args: {
    from: { type: 'string', valueHint: 'SEQ', description: 'First sequence (default the first)' },
    to: { type: 'string', valueHint: 'SEQ', description: 'Last sequence (default the last)' },
    offline: {
      type: 'string',
      valueHint: 'FILE',
      description: 'Verify a file of "weft audit export" instead; needs no host',
    },
    'audit-anchor': {
      type: 'string',
      valueHint: 'FILE[,…]',
      description: 'Check that the log still contains what this file anchors; the highest of several counts',
    },
    'public-key': {
      type: 'string',
      valueHint: 'KEY',
      description:
        'With --offline: the key the host is known by (checkpointPublicKey in its discovery; default that of --audit-anchor)',
    },
    ...HOST_ARGS,
  },
  moved: {
    anchor: 'weft audit verify has no --anchor. Give the anchor with --audit-anchor FILE, as to weft serve.',
  },
  async run({ cli, args, all }) {
    for (const whole of ['offline', 'audit-anchor'] as const)
      if (args[whole] !== undefined && (args.from !== undefined || args.to !== undefined))
        throw usageError(`--${whole} verifies the whole log; remove --from and --to.`);
    const files = all('audit-anchor').flatMap((text) => text.split(','));
    if (args.offline !== undefined) {
      const anchor = await highestAnchor(cli, files);
      const publicKey = args['public-key'] ?? anchor?.publicKey;
      const found = await verifyFile(resolve(cli.io.cwd, args.offline), { publicKey, anchor });
      return report(cli, found, offlineNotes(found, publicKey !== undefined));
    }
    if (args['public-key'] !== undefined)
      throw usageError('--public-key goes with --offline; a host verifies with its own key.');
    const range = { ...sequence('fromSeq', '--from', args.from), ...sequence('toSeq', '--to', args.to) };
    const { client } = await connect(cli.io, args);
    const anchor = await highestAnchor(cli, files);
    const found = await client.audit.verify(range);
    const lack = anchor && (await lackOf(client, found, anchor));
    return report(cli, lack === undefined ? found : { ...found, chainValid: false }, lack ? [lack] : []);
  },
});

/** Of several processes, the one that has seen most. */
async function highestAnchor(cli: Cli, files: readonly string[]): Promise<Anchored | undefined> {
  if (files.length === 0) return undefined;
  const { readAnchorFile } = await import('../../serve/keys/audit-anchor-file.ts');
  const anchors = await Promise.all(
    files.map(async (name) => {
      const path = resolve(cli.io.cwd, name.trim());
      const anchored = await readAnchorFile(path).catch((cause: unknown) => {
        if (cause instanceof CliError) throw cause;
        throw unusable('file_unreadable', `${path} cannot be used: ${reasonOf(cause)}.`, cause);
      });
      return anchored ?? Promise.reject(unusable('file_unreadable', `There is no anchor at ${path}.`));
    }),
  );
  return anchors.reduce((highest, each) => (each.number > highest.number ? each : highest));
}

/** Why the log that a host reports is not the anchored one. */
async function lackOf(
  client: Client,
  { checkpoints }: AuditVerification,
  anchor: Anchored,
): Promise<string | undefined> {
  const { describeSeal, isSealed, readPublicKey } = await import('@weft/engine');
  const { auth } = (await client.discovery()) as {
    auth?: { auditLogIntegrity?: { checkpointPublicKey?: string } };
  };
  const key = readPublicKey(anchor.publicKey);
  const isOwn = anchor.publicKey === auth?.auditLogIntegrity?.checkpointPublicKey;
  if (!isOwn || key === undefined || !isSealed(anchor, key))
    return 'The anchor was not sealed with the audit key of this host.';
  const found = checkpoints.find(({ checkpoint }) => checkpoint === `checkpoint-${anchor.number}`);
  if (found?.merkleRoot === anchor.root && found.atSequence === anchor.sequence) return undefined;
  return `The log does not hold what was anchored (${describeSeal(anchor)}): its end was cut off, it was rewritten, or another database is in its place.`;
}

function sequence(name: 'fromSeq' | 'toSeq', flag: string, text: string | undefined): object {
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) throw usageError(`${flag} takes a sequence, 0 or more, not "${text}".`);
  return { [name]: Number(text) };
}

async function verifyFile(
  path: string,
  trusted: { readonly publicKey: string | undefined; readonly anchor: Anchored | undefined },
): Promise<ExportVerification> {
  // Here and not above: other commands start without the engine.
  const { createExportVerifier } = await import('@weft/engine');
  const verifier = createExportVerifier(trusted);
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
      `Pending: ${found.pending} of ${countText(found.entries, 'entry', 'entries')}. No link covers what is pending, and nothing proves it.`,
    );
  if (found.publicKey === undefined) notes.push('There was no key to check signatures with.');
  else if (!isKeyTrusted)
    notes.push(
      `The key came with the file, so a forger could have brought it. Compare it with the host's, or pass --public-key:\n  ${visibleText(found.publicKey)}`,
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
