import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Json } from '@weft/protocol';
import type { ImportedRun } from '@weft/sdk';
import { asCliError, readBundleFile } from '../output/bundle-file.ts';
import { type Cli, HOST_ARGS, leaf } from '../parsing/command.ts';
import { connect } from '../connecting/connection.ts';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { shown, visibleText } from '../output/terminal-text.ts';
import { countText } from '../output/count-text.ts';

export const importBundle = leaf({
  name: 'import',
  summary: 'Import a debug bundle as a read-only run',
  examples: [
    'weft import failed-order.json',
    'weft import run.bundle.json.gz --json',
    'weft import failed-order.json --trust their-host.pem',
  ],
  args: {
    file: { type: 'positional', description: 'A debug bundle, plain or gzipped', required: true },
    trust: {
      type: 'string',
      valueHint: 'KEYFILE|KEY',
      description:
        'Import only if signed with this key (checkpointPublicKey in the discovery of the source host)',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const bundle = await readBundleFile(cli.io.cwd, args.file);
    if (args.trust !== undefined) await checkSigner(bundle, args.file, await readKey(cli.io.cwd, args.trust));
    const { client } = await connect(cli.io, args);
    const run: ImportedRun = await client.imports.create(bundle);
    if (cli.json) cli.io.stdout.write(`${JSON.stringify(run)}\n`);
    else tell(cli, run);
    return EXIT.done;
  },
});

/** Here and not by the host, which may not be trusted: what is sent afterwards is what was checked. */
async function checkSigner(bundle: Json, file: string, trusted: KeyObject): Promise<void> {
  // Other imports go without the engine.
  const { readBundle } = await import('@weft/engine');
  let signer: { readonly publicKey: string; readonly fingerprint: string } | undefined;
  try {
    signer = readBundle(bundle).signer;
  } catch (cause) {
    throw asCliError(cause, file);
  }
  if (signer?.publicKey === trusted.export({ type: 'spki', format: 'der' }).toString('base64')) return;
  const problem =
    signer === undefined ? 'is not signed' : `is signed with another key (${signer.fingerprint})`;
  throw new CliError(
    EXIT.unmet,
    'signer_not_trusted',
    `${file} ${problem}, so it was not imported. Get it from the host whose key you trust, or remove --trust.`,
    signer === undefined ? {} : { details: { signedBy: signer.fingerprint } },
  );
}

/** A key as it stands in discovery, or a file with one, as PEM or in the same form. */
async function readKey(cwd: string, given: string): Promise<KeyObject> {
  const key = parseKey(given);
  if (key !== undefined) return key;
  let text: string;
  try {
    text = await readFile(resolve(cwd, given), 'utf8');
  } catch {
    // What is wrong with the file would quote its name, and that may be a key.
    throw unusable('key_unreadable', '--trust is neither an Ed25519 public key nor a file that can be read.');
  }
  const read = parseKey(text.trim());
  if (read !== undefined) return read;
  throw unusable(
    'key_unreadable',
    `${given} must hold an Ed25519 public key (SPKI, as PEM or base64 of DER).`,
  );
}

/** A private key in PEM form stands for its public half. */
function parseKey(text: string): KeyObject | undefined {
  try {
    const key = text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined; // whatever OpenSSL dislikes about it, the answer is the same and must not quote the key
  }
}

function checkedText({ verified, signedBy }: ImportedRun): string {
  if (!verified) return 'unverified';
  return signedBy === undefined
    ? 'digest checked, not signed'
    : `digest and signature checked, signed by ${visibleText(signedBy)}`;
}

function tell({ io, style }: Cli, run: ImportedRun): void {
  const what = [
    run.status,
    run.truncated
      ? `the first ${run.events} of ${countText(run.totalEvents, 'event')}`
      : countText(run.events, 'event'),
    checkedText(run),
    ...(run.created ? [] : ['already imported']),
  ].join(', ');
  io.stdout.write(shown`${run.runId}  ${style.dim(what)}\n`);
  if (run.definition === 'present') return;
  const why =
    run.definition === 'missing'
      ? 'Its workflow is neither in the bundle nor registered here'
      : 'This host cannot run its workflow';
  io.stderr.write(`${why}: the run can be shown and compared; to fork it, name a registered version.\n`);
}
