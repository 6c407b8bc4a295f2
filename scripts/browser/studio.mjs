/** The web page of a real host in a real browser, signed in by a link as a person is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../bootstrap.mjs';

/** The example workflows, and models that need no key. */
const EXAMPLE_FLAGS = [
  '--workflows',
  join(ROOT, 'examples/workflows'),
  '--config',
  join(ROOT, 'examples/models.json'),
];

/**
 * A host in a process and a folder of its own, with the example workflows unless `flags` say otherwise, which may ask the host itself as with
 * `npm start`. `studioDir` serves the page of that folder in place of the built one.
 */
export async function startStudioHost({ flags = EXAMPLE_FLAGS, studioDir, env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-studio-host-'));
  const port = await freePort();
  const itself = ['--port', port, '--allow-egress', `127.0.0.1:${port}`];
  const start = () =>
    startHost(folder, [...itself, ...flags], {
      ...process.env,
      ...env,
      NODE_OPTIONS: '',
      ...(studioDir !== undefined && { WEFT_STUDIO_DIR: studioDir }),
    });
  let running = await start();
  const { url } = running;
  const key = readFileSync(join(folder, 'key'), 'utf8').trim();

  async function api(method, path, body) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  return {
    url,
    key,
    /** Asks the host with its first key; throws what it says against it. */
    api,
    /** A link that signs in once, within a minute. */
    async signInLink() {
      const { code } = await api('POST', '/v1/host/weft/sessions/codes');
      return `${url}/studio/#code=${code}`;
    },
    /** At once, as in a power failure. */
    kill: () => ended(running.host, 'SIGKILL'),
    /** At the same address, on the same data. */
    async restart() {
      running = await start();
    },
    async stop() {
      await ended(running.host, 'SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Opens the page signed in, at a place such as `#/runs`. Without a `host` it starts one, which ends with `close`. `problems` are what
 * no page of ours may have: uncaught errors, what the content security policy refused, requests to anywhere else.
 */
export async function openStudio(page, { host, place = '#/runs', ...options } = {}) {
  const serving = host ?? (await startStudioHost(options));
  const problems = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && message.text().includes('Content Security Policy'))
      problems.push(`policy: ${message.text()}`);
  });
  page.on('request', (request) => {
    const requested = request.url();
    if (!requested.startsWith(serving.url) && !/^(?:data|blob|about):/.test(requested))
      problems.push(`request: ${requested}`);
  });
  await page.goto(await serving.signInLink());
  await page.waitForFunction(() => !globalThis.location.hash.includes('code='));
  // Ours once it is signed in, or the page of a test.
  await page.locator('.shell, #who').first().waitFor();
  if (place !== '#/runs') await goTo(page, place);
  return { page, host: serving, problems, close: () => (host === undefined ? serving.stop() : undefined) };
}

/** Changes the place inside the open page, which keeps its session. */
export async function goTo(page, place) {
  await page.evaluate((hash) => {
    globalThis.location.hash = hash;
  }, place);
  await page.waitForFunction(() => !/Loading .*…/.test(globalThis.document.body.textContent), undefined, {
    timeout: 30_000,
  });
}

/** A free one, so that a host can be given its own address. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return String(port);
}

async function startHost(folder, flags, env) {
  const weft = join(ROOT, 'packages/cli/bin/weft.mjs');
  const host = spawn(process.execPath, [weft, 'serve', '--json', '--data', folder, ...flags], {
    cwd: folder,
    env: { ...env, WEFT_API_KEY: '', WEFT_STORE: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  host.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  let said = '';
  for await (const chunk of host.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (said.includes('\n')) return { host, url: JSON.parse(said.split('\n', 1)[0]).url };
  }
  throw new Error(`the host ended: ${said}${errors}`);
}

async function ended(host, signal) {
  if (host.exitCode !== null || host.signalCode !== null) return;
  host.kill(signal);
  await once(host, 'exit');
}
