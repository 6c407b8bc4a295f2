/** A host, started as a person starts it in a folder where the packages are installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export async function startInstalledHost(project, data, env = process.env) {
  const flags = ['--port', '0', '--conformance', '--data', data];
  const host = spawn(join(project, 'node_modules/.bin/weft'), ['serve', ...flags], {
    cwd: project,
    env: { ...env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  host.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const banner = await bannerOf(host, () => errors);
  return {
    banner,
    url: /listening at (http:\S+)/.exec(banner)[1],
    apiKey: readFileSync(join(project, data, 'key'), 'utf8').trim(),
    /** Answers what it has said on stderr. */
    async stop() {
      host.kill('SIGTERM');
      await once(host, 'exit');
      return errors;
    },
  };
}

/** What it says when it is up. */
async function bannerOf(host, errors) {
  let said = '';
  for await (const chunk of host.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (said.includes('Ctrl-C')) return said;
  }
  throw new Error(`the host ended: ${said}${errors()}`);
}
