/**
 * `npm start -- FLAGS`: makes the clone ready, then serves the example workflows. The host runs in this very process, so
 * that signals need no middleman.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady, ROOT } from './bootstrap.mjs';

const DEFAULT_PORT = '7878';

const flags = process.argv.slice(2);
ensureReady();

stopWithParent();
const weft = join(ROOT, 'packages/cli/bin/weft.mjs');
process.argv = [process.execPath, weft, 'serve', ...exampleFlags(flags), ...flags];
await import(pathToFileURL(weft).href);

/**
 * npm starts scripts through a shell, and a shell that is told to stop dies without telling us: `kill` of npm would leave the
 * host running with nobody in charge. So the host stops, in order, when its parent is gone.
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
 * What makes the examples work: their folder, and leave to call this very host, which the egress policy refuses otherwise.
 * A port that the system is to choose is not known yet, so nothing can be admitted for it.
 */
function exampleFlags(given) {
  if (given.includes('--help') || given.includes('-h')) return [];
  const port = valueOf(given, '--port') ?? process.env.WEFT_PORT ?? DEFAULT_PORT;
  const egress = port === '0' ? [] : ['--allow-egress', `127.0.0.1:${port}`];
  return ['--workflows', join(ROOT, 'examples/workflows'), ...egress];
}

function valueOf(given, name) {
  const joined = given.find((flag) => flag.startsWith(`${name}=`));
  if (joined !== undefined) return joined.slice(name.length + 1);
  const index = given.indexOf(name);
  return index === -1 ? undefined : given[index + 1];
}
