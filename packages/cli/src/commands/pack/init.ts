import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EXIT, unusable } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { withPacks } from '../../packs/with-packs.ts';

export const init = leaf({
  name: 'init',
  summary: 'Start a pack: its pack.json and a node type in TypeScript',
  examples: ['weft pack init vendor.acme.payments', 'weft pack init vendor.acme.payments ./payments'],
  args: {
    name: { type: 'positional', description: 'Name of the pack', required: true },
    folder: { type: 'positional', description: 'Folder to write to (default: this one)', required: false },
  },
  async run({ cli, args }) {
    const { io } = cli;
    const folder = resolve(io.cwd, args.folder ?? '.');
    const files = await withPacks(async ({ checkPackName }) => {
      checkPackName(args.name);
      const { writeBytes } = await import('../../packs/pack-files.ts');
      const made = packSources(args.name);
      for (const [path, text] of Object.entries(made)) {
        await mkdir(dirname(join(folder, path)), { recursive: true }).catch((cause: unknown) => {
          throw unusable('folder_unwritable', `${folder} cannot be used: ${reasonOf(cause)}.`, cause);
        });
        await writeBytes(join(folder, path), text, 'wx');
      }
      return Object.keys(made);
    }, EXIT.usage);
    if (cli.json) io.stdout.write(`${JSON.stringify({ name: args.name, folder, files })}\n`);
    else
      io.stdout.write(
        shown`Made ${files.join(', ')} in ${folder}. Next: weft pack build ${args.folder ?? '.'}\n`,
      );
    return EXIT.done;
  },
});

function packSources(name: string): Readonly<Record<string, string>> {
  const [, owner = '', ...rest] = name.split('.');
  const manifest = { name, version: '0.1.0', description: 'What it is for.', engines: { openwop: '^1.0.0' } };
  return {
    'pack.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'nodes/greet.ts': `import { defineNode, Type } from '@weft/sdk/nodes';

export const greet = defineNode({
  typeId: '${owner}.${rest.join('.')}.greet',
  version: '1.0.0',
  title: 'Greet',
  category: 'data',
  role: 'pure',
  inputs: { name: Type.String() },
  outputs: { greeting: Type.String() },
  run: ({ inputs }) => ({ greeting: \`Hello, \${inputs.name}!\` }),
});
`,
  };
}
