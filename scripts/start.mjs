/**
 * `npm start -- FLAGS`: makes the clone ready, then serves the example workflows. The host runs in this very process, so
 * that signals need no middleman.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady, ROOT } from './bootstrap.mjs';

const DEFAULT_PORT = '7878';

const flags = process.argv.slice(2);
ensureReady();

stopWithParent();
const weft = join(ROOT, 'packages/cli/bin/weft.mjs');
process.argv = [process.execPath, weft, 'serve', ...(await serveFlags(flags))];
await import(pathToFileURL(weft).href);

/**
 * npm starts scripts through a shell, and a shell that gets a signal dies without passing it on: `kill` of npm would leave the
 * host running with no one in charge. So the host stops, in order, when its parent is gone.
 */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

/**
 * What makes the examples work: their folder, models that need no key, and permission to call this very host, which the egress policy refuses otherwise.
 * A port that the system is to choose is chosen here, because it must be known to be admitted.
 */
async function serveFlags(given) {
  if (given.includes('--help') || given.includes('-h')) return given;
  const asked = valueOf(given, '--port') ?? process.env.WEFT_PORT ?? DEFAULT_PORT;
  const port = asked === '0' ? String(await freePort()) : asked;
  const examples = ['--workflows', join(ROOT, 'examples/workflows'), '--allow-egress', `127.0.0.1:${port}`];
  const isConfigured = valueOf(given, '--config') !== undefined || process.env.WEFT_CONFIG !== undefined;
  const models = isConfigured ? [] : ['--config', join(ROOT, 'examples/models.json')];
  // The last one counts.
  return [...examples, ...models, ...given, ...(asked === '0' ? ['--port', port] : [])];
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function valueOf(given, name) {
  const joined = given.find((flag) => flag.startsWith(`${name}=`));
  if (joined !== undefined) return joined.slice(name.length + 1);
  const index = given.indexOf(name);
  return index === -1 ? undefined : given[index + 1];
}
