import { resolve } from 'node:path';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { SOURCE_ARGS } from './pack-flags.ts';

export const build = leaf({
  name: 'build',
  summary: 'Make an archive of a pack: from files of node types, or from a folder with pack.json',
  examples: [
    'weft pack build',
    'weft pack build ./nodes --name vendor.acme.payments --version 1.0.0',
    'weft pack build ./greet -o greet.tgz --json',
  ],
  args: {
    ...SOURCE_ARGS,
    output: {
      type: 'string',
      alias: 'o',
      valueHint: 'FILE',
      description: 'The archive to write (default: NAME-VERSION.tgz here)',
    },
  },
  async run({ cli, args }) {
    const { io } = cli;
    const built = await withPacks(async ({ writePackArchive, integrityOf }) => {
      const { buildPack } = await import('../../packs/build-pack.ts');
      const { writeBytes } = await import('../../packs/pack-files.ts');
      const { manifest, files } = await buildPack(resolve(io.cwd, args.folder ?? '.'), args);
      const { name, version } = manifest;
      const file = args.output ?? `${name}-${version}.tgz`;
      const archive = writePackArchive(files);
      await writeBytes(resolve(io.cwd, file), archive);
      return { name, version, file, bytes: archive.length, integrity: integrityOf(archive) };
    }, EXIT.failed);
    if (cli.json) io.stdout.write(`${JSON.stringify(built)}\n`);
    else {
      const { name, version, file, bytes, integrity } = built;
      io.stdout.write(shown`${name} ${version} written to ${file} (${bytes} bytes)\n${integrity}\n`);
      io.stderr.write(shown`Sign it: weft pack sign ${file} --key KEY.pem --kid KEY-NAME\n`);
    }
    return EXIT.done;
  },
});
