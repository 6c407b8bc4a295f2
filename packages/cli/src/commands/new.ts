import { spawn } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { dependenciesHere } from '../new-project/dependencies.ts';
import { projectFiles } from '../new-project/project-files.ts';
import { shellWord } from '../output/shell-word.ts';
import { shown } from '../output/terminal-text.ts';
import { type Cli, leaf } from '../parsing/command.ts';
import { reasonOf } from '../parsing/key-values.ts';

export const newProject = leaf({
  name: 'new',
  summary: 'Start a project folder: a workflow, a node of your own, a test',
  examples: ['weft new demo', 'weft new demo --no-install'],
  args: {
    folder: {
      type: 'positional',
      description: 'Folder to make; it must be empty if it exists',
      required: true,
    },
    'no-install': { type: 'boolean', description: 'Do not run npm install in it' },
  },
  async run({ cli, args }) {
    const folder = resolve(cli.io.cwd, args.folder);
    await refuseFilled(folder, args.folder);
    const files = projectFiles({ name: packageName(basename(folder)), ...dependenciesHere() });
    try {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text, { flag: 'wx' });
      }
    } catch (cause) {
      throw unusable('folder_unwritable', `${args.folder} cannot be written: ${reasonOf(cause)}.`, cause);
    }
    const isInstalled = args['no-install'] !== true && (await install(cli, folder));
    say(cli, folder, Object.keys(files), isInstalled);
    return EXIT.done;
  },
});

async function refuseFilled(folder: string, named: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw unusable('folder_unreadable', `${named} cannot be used: ${reasonOf(error)}.`, error);
  });
  if (found.length > 0)
    throw new CliError(
      EXIT.unmet,
      'folder_not_empty',
      `${named} is not empty; choose a folder that does not exist yet.`,
    );
}

/** What npm accepts, near to what the folder is called. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 100);
  return name === '' ? 'weft-project' : name;
}

function install({ io }: Cli, folder: string): Promise<boolean> {
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  return new Promise((resolve) => {
    const child = spawn('npm', args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32',
    });
    child.stderr.on('data', (text: Buffer) => io.stderr.write(text.toString('utf8')));
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

function say({ io, json }: Cli, folder: string, files: readonly string[], isInstalled: boolean): void {
  if (json) {
    io.stdout.write(`${JSON.stringify({ folder, files, isInstalled })}\n`);
    return;
  }
  const way = relative(io.cwd, folder);
  const steps = [
    way === '' ? undefined : `cd ${shellWord(way)}`,
    isInstalled ? undefined : 'npm install',
    'npm start',
  ];
  io.stdout.write(shown`Made ${folder}:\n`);
  for (const file of files) io.stdout.write(shown`  ${file}\n`);
  io.stdout.write(shown`\nNext:\n  ${steps.filter((step) => step !== undefined).join(' && ')}\n`);
}
