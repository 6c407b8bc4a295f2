import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, tool } from '../bootstrap.mjs';
import { hasBrowser, openBrowser } from '../browser/browser.mjs';
import { environmentOf, newerNodes } from '../newer-nodes.mjs';
import { problemsOf } from './check-tarball.mjs';
import { startInstalledHost } from './installed-host.mjs';
import { openRegistry } from './local-registry.mjs';
import { openPageServer } from './page-server.mjs';
import { publishedPackages } from './published-packages.mjs';
import { packAll } from './stage.mjs';
import { readTarball } from './tarball.mjs';
import { thirdPartyPackages } from './third-party.mjs';

/** The packages as strangers get them: packed, installed in an empty folder from a registry, and used there. */

const folder = mkdtempSync(join(tmpdir(), 'weft-release-'));
const project = join(folder, 'project');
const LONG = { timeout: 240_000 };
const NODES = [
  [process.versions.node, process.execPath],
  ...newerNodes().flatMap(({ version, path }) => (path === undefined ? [] : [[version, path]])),
];
const BROWSERS = hasBrowser() ? ['Chromium'] : [];
let packed;
let registry;

beforeAll(async () => {
  packed = packAll(folder);
  const others = join(folder, 'others');
  mkdirSync(others);
  const theirs = new Set(
    publishedPackages().flatMap((each) => thirdPartyPackages(each).map((its) => its.folder)),
  );
  npm(folder, 'pack', '--silent', '--ignore-scripts', '--pack-destination', others, ...theirs);
  const tarballs = readdirSync(others).map((name) => join(others, name));
  registry = await openRegistry([...packed.map(({ path }) => path), ...tarballs]);
  mkdirSync(project);
  write('package.json', JSON.stringify({ name: 'project', private: true }));
  await installed(project, '@weft/cli', '@weft/sdk');
}, 240_000);

afterAll(async () => {
  await registry?.close();
  rmSync(folder, { recursive: true, force: true });
});

function npm(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args[0]} failed:\n${stdout}${stderr}`);
}

/** Not synchronous: the registry is this very process. */
async function installed(folderOfProject, ...names) {
  const flags = ['--registry', registry.url, '--no-audit', '--no-fund', '--cache', join(folder, 'cache')];
  const child = spawn('npm', ['install', ...flags, ...names], {
    cwd: folderOfProject,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`npm install failed:\n${errors}`);
}

const write = (name, text) => writeFileSync(join(project, name), text);

function node(...args) {
  return spawnSync(process.execPath, args, {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

describe('the tarball of', () => {
  it.each(publishedPackages().map(({ manifest }) => [manifest.name]))(
    '%s has what it needs and nothing else',
    (name) => {
      const { path } = packed.find((each) => each.name === name);
      const files = readTarball(path);

      expect(problemsOf(files, JSON.parse(files.get('package.json').toString('utf8')))).toEqual([]);
    },
  );
});

describe('the page', () => {
  it('comes with the command line, packed and with the licenses of what is in it', async () => {
    const host = await startInstalledHost(project, '.page');
    try {
      const index = await fetch(`${host.url}/studio/`);
      const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await index.text())[1];
      const headers = { 'accept-encoding': 'br' };
      const packedScript = await fetch(`${host.url}/studio/${script}`, { headers });
      const notices = await (await fetch(`${host.url}/studio/THIRD-PARTY-NOTICES.txt`)).text();

      expect(packedScript.headers.get('content-encoding')).toBe('br');
      expect(await packedScript.text()).toContain('Weft');
      for (const name of ['elkjs', 'react', '@xyflow/react'])
        expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
      expect(notices).toContain('Eclipse Public License');
    } finally {
      await host.stop();
    }
  });
});

describe('weft new of the installed command line', () => {
  it('makes a project of the same versions, whose test passes', LONG, async () => {
    const made = node('node_modules/@weft/cli/bin/weft.mjs', 'new', 'demo', '--no-install');
    const demo = join(project, 'demo');
    const { dependencies } = JSON.parse(readFileSync(join(demo, 'package.json'), 'utf8'));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

    await installed(demo);
    const tested = spawnSync('npm', ['test'], { cwd: demo, encoding: 'utf8' });

    expect(made.status, made.stderr).toBe(0);
    expect(dependencies).toMatchObject({ '@weft/cli': version, '@weft/sdk': version });
    expect(tested.stdout, tested.stderr).toContain('# pass 2');
    expect(tested.status).toBe(0);
  });
});

describe('the SDK alone', () => {
  it('is one package', LONG, async () => {
    const alone = join(folder, 'alone');
    mkdirSync(alone);
    writeFileSync(join(alone, 'package.json'), JSON.stringify({ name: 'alone', private: true }));

    await installed(alone, '@weft/sdk');

    const { packages } = JSON.parse(readFileSync(join(alone, 'package-lock.json'), 'utf8'));
    expect(Object.keys(packages)).toEqual(['', 'node_modules/@weft/sdk']);
    expect(packages['node_modules/@weft/sdk']).not.toHaveProperty('dependencies');
  });

  it.each(['dist/index.js', 'dist/index.d.ts'])('needs nothing but its own files, from %s on', (entry) => {
    const files = readTarball(packed.find(({ name }) => name === '@weft/sdk').path);
    const modules = new Set([entry]);
    const others = [];
    for (const name of modules) {
      // Declarations name the module, whose types stand next to it.
      const content = files.get(name) ?? files.get(name.replace(/\.ts$/, '.d.ts'));
      for (const [, path] of content.toString('utf8').matchAll(/(?:from|import)\s*\(?['"]([^'"]+)['"]/g)) {
        if (path.startsWith('.')) modules.add(posix.join(posix.dirname(name), path));
        else others.push(`${name} imports ${path}`);
      }
    }

    expect(others).toEqual([]);
    expect(modules.size).toBeGreaterThan(30);
  });
});

describe('a folder with the packages installed', () => {
  it.each(NODES)(
    'starts a host on Node %s, and a program of the SDK runs a workflow on it',
    LONG,
    async (version, path) => {
      const env = { ...environmentOf(path), NODE_OPTIONS: '' };
      const host = await startInstalledHost(project, `data-${version}`, env);
      const ran = ['mjs', 'cjs'].map((type) => {
        write(`use.${type}`, program(type, host));
        return spawnSync(path, [`use.${type}`], { cwd: project, encoding: 'utf8', env });
      });
      const errors = await host.stop();

      expect(host.banner).toContain('\n  npx @weft/cli run conformance-noop --watch\n');
      expect(errors).not.toContain('Warning');
      for (const { stdout, stderr } of ran) {
        expect(stderr.replace(/.*ExperimentalWarning.*\n.*trace-warnings.*\n/, '')).toBe('');
        expect(stdout).toMatch(new RegExp(`^v${version}\\n[^]*\\nrun.completed\\n$`));
      }
    },
  );

  it.each(BROWSERS)(
    'gives a page in %s the SDK as it is: it follows a run, and cancels one',
    LONG,
    async () => {
      const host = await startInstalledHost(project, 'data-browser');
      const server = await openPageServer(
        readTarball(packed.find(({ name }) => name === '@weft/sdk').path),
        host.url,
      );
      const browser = await openBrowser();
      try {
        const page = await browser.newPage();
        await page.goto(server.url);
        const used = await page.evaluate(`useSdk(${JSON.stringify(host.apiKey)})`);

        expect(used).toEqual({
          seen: expect.arrayContaining(['run.started', 'node.failed', 'run.failed']),
          codes: [expect.any(String)],
          last: 'run.cancelled',
          status: 'cancelled',
        });
      } finally {
        await browser.close();
        await server.close();
        await host.stop();
      }
    },
  );

  it.each([
    ['nodenext', 'use.mts', 'import { createClient, type RunEventDocument } from "@weft/sdk";'],
    ['nodenext', 'use.cts', 'import sdk = require("@weft/sdk");\nconst { createClient } = sdk;'],
    ['bundler', 'use.ts', 'import { createClient } from "@weft/sdk";'],
  ])('compiles against its types with module resolution %s (%s)', LONG, (resolution, name, head) => {
    write(
      name,
      `${head}\nexport const client = createClient({ baseUrl: 'http://127.0.0.1' });\nexport const run: Promise<{ runId: string }> = client.runs.create({ workflowId: 'x' });
export async function failures(runId: string): Promise<string[]> {
  const codes: string[] = [];
  for await (const event of client.runs.events(runId)) if (event.type === 'node.failed') codes.push(event.payload.error.code);
  return codes;
}\n`,
    );
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    linkOnce(join(ROOT, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
    linkOnce(join(ROOT, 'node_modules/undici-types'), join(project, 'node_modules/undici-types'));
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--target',
      'es2023',
      '--types',
      'node',
    ];

    const ran = node(
      tool('typescript/bin/tsc'),
      ...flags,
      '--module',
      module,
      '--moduleResolution',
      resolution,
      name,
    );

    expect(ran.stdout + ran.stderr).toBe('');
  });
});

function linkOnce(from, to) {
  rmSync(to, { recursive: true, force: true });
  symlinkSync(from, to);
}

function program(type, { url, apiKey }) {
  const [before, after] =
    type === 'mjs'
      ? [`import { createClient } from '@weft/sdk';`, '']
      : [`const { createClient } = require('@weft/sdk');\n(async () => {`, '})();'];
  return `${before}
const weft = createClient(${JSON.stringify({ baseUrl: url, apiKey })});
const { runId } = await weft.runs.create({ workflowId: 'conformance-noop' });
console.log(process.version);
for await (const event of weft.runs.events(runId)) console.log(event.type);
${after}`;
}
