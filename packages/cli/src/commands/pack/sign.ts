import { resolve } from 'node:path';
import { readPrivateFile } from '../../connecting/private-file.ts';
import { EXIT, unusable } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { ARCHIVE_ARGS } from './pack-flags.ts';

export const sign = leaf({
  name: 'sign',
  summary: 'Sign an archive with an Ed25519 key; the signature is written next to it',
  examples: [
    'weft pack sign vendor.acme.payments-1.0.0.tgz --key acme.pem --kid acme-2026',
    'weft pack sign greet.tgz --key acme.pem --kid acme-2026 --json',
  ],
  footnote: 'A key is made with: openssl genpkey -algorithm ed25519 -out acme.pem (then chmod 600 acme.pem)',
  args: {
    ...ARCHIVE_ARGS,
    key: {
      type: 'string',
      valueHint: 'FILE',
      required: true,
      description: 'Private key in PEM; only you may read the file',
    },
    kid: { type: 'string', valueHint: 'NAME', required: true, description: 'Name of the key in keychains' },
  },
  async run({ cli, args }) {
    const { io } = cli;
    const file = resolve(io.cwd, args.file);
    const pem = await readPrivateFile(resolve(io.cwd, args.key), 'signing_key');
    if (pem === undefined)
      throw unusable(
        'file_unreadable',
        `${args.key} does not exist. Make a key with: openssl genpkey -algorithm ed25519 -out ${args.key}`,
      );
    const signed = await withPacks(
      async ({ privateKeyOf, publicKeyText, signPack, integrityOf, PACK_LIMITS }) => {
        const { readLimited, writeBytes } = await import('../../packs/pack-files.ts');
        const key = privateKeyOf(pem, args.key);
        const { archive, signature } = await signPack(
          await readLimited(file, PACK_LIMITS.compressed),
          key,
          args.kid,
        );
        // The signature first: an archive with a signature that is not its own is refused, never trusted.
        await writeBytes(`${file}.sig`, signature);
        await writeBytes(file, archive);
        return { integrity: integrityOf(archive), publicKey: publicKeyText(key) };
      },
    );
    const result = { file: args.file, signature: `${args.file}.sig`, kid: args.kid, ...signed };
    if (cli.json) io.stdout.write(`${JSON.stringify(result)}\n`);
    else
      io.stdout.write(
        shown`Signed ${args.file} with ${args.kid}; the signature is in ${result.signature}\n` +
          shown`integrity   ${result.integrity}\npublic key  ${result.publicKey}\n`,
      );
    return EXIT.done;
  },
});
