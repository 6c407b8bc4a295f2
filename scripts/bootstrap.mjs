/**
 * Makes a bare clone ready: right Node version, dependencies installed, packages built. Every command of package.json
 * goes through here, so `git clone` and `npm start` are all a person has to type. No dependencies of its own, because it
 * runs before there are any. When nothing is stale it only looks at file times.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname ?? '.', '..');
const MODULES = join(ROOT, 'node_modules');
const LOCK = join(ROOT, 'package-lock.json');
const TOOLS = join(ROOT, 'tools');
const INSTALL_STAMP = join(MODULES, '.weft-installed');
const BUILD_STAMP = join(MODULES, '.weft-built');
const MIN_NODE = [20, 19];
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/** Version, dependencies and, unless `build` is false, the build. */
export function ensureReady({ build = true } = {}) {
  requireNode();
  if (isInstallStale()) install();
  if (build && isBuildStale()) compile();
}

/** Tools of others that only tests need: each folder below tools/ has its own lockfile. Their install scripts do not run. */
export function ensureTools() {
  for (const name of readdirSync(TOOLS)) {
    const folder = join(TOOLS, name);
    const stamp = join(folder, 'node_modules/.weft-installed');
    const digest = digestOf(join(folder, 'package-lock.json'));
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) continue;
    const started = performance.now();
    say(`installing tools for tests: tools/${name}`);
    if (npm(['install', '--no-save', '--ignore-scripts', ...QUIET], folder) !== 0)
      stop(
        `Installing tools/${name} failed (see above). Check the network and the registry, then run the same command again.`,
      );
    writeFileSync(stamp, digest);
    say(`installed in ${seconds(started)}`);
  }
}

/** Runs a program in the foreground; resolves with its exit code. */
export function run(program, args, options = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', ...options });
    // A terminal sends Ctrl-C to the whole process group, so there the child has it already.
    const interrupt = () => process.stdin.isTTY || child.kill('SIGINT');
    const terminate = () => child.kill('SIGTERM');
    process.on('SIGINT', interrupt).on('SIGTERM', terminate);
    child.once('error', fail);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', interrupt).off('SIGTERM', terminate);
      done(code ?? (signal === 'SIGINT' ? 130 : 143));
    });
  });
}

/** Path of a file inside an installed package, such as `tool('vitest/vitest.mjs')`. */
export function tool(path) {
  return join(MODULES, path);
}

export function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  stop(
    `Weft needs Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}. Install a newer Node and try again.`,
  );
}

function isInstallStale() {
  if (!existsSync(MODULES)) return true;
  const digest = lockDigest();
  if (existsSync(INSTALL_STAMP) && readFileSync(INSTALL_STAMP, 'utf8') === digest) return false;
  if (!installMatchesLock()) return true;
  // Someone ran npm by hand and it brought what the lockfile says: nothing to do again.
  writeFileSync(INSTALL_STAMP, digest);
  return false;
}

function lockDigest() {
  return digestOf(LOCK);
}

function digestOf(lockfile) {
  return existsSync(lockfile)
    ? createHash('sha256').update(readFileSync(lockfile)).digest('hex')
    : 'no lockfile';
}

function installMatchesLock() {
  const hidden = join(MODULES, '.package-lock.json');
  if (!existsSync(LOCK) || !existsSync(hidden)) return false;
  const installed = readJson(hidden).packages;
  return Object.entries(readJson(LOCK).packages).every(
    ([path, entry]) =>
      path === '' || entry.link || entry.optional || installed[path]?.version === entry.version,
  );
}

function install() {
  const started = performance.now();
  const args = installArguments();
  say(`installing dependencies: npm ${args.join(' ')}`);
  if (npm(args) !== 0) {
    stop(
      `npm ${args[0]} failed (see above). Check the network and the registry, then run the same command again.`,
    );
  }
  writeFileSync(INSTALL_STAMP, lockDigest());
  say(`installed in ${seconds(started)}`);
}

/**
 * `npm ci` refuses a lockfile that lacks optional packages of other platforms (a registry mirror may not carry them, and
 * then npm leaves them out when it writes the file). `npm install` takes the same pinned versions and asks the registry for
 * the missing optional ones, so it works on every platform; `--no-save` keeps it from rewriting the lockfile of a clone.
 */
function installArguments() {
  return isLockComplete() ? ['ci', ...QUIET] : ['install', '--no-save', ...QUIET];
}

function isLockComplete() {
  if (!existsSync(LOCK)) return false;
  const { packages } = readJson(LOCK);
  return Object.entries(packages).every(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).every(
      (name) => `node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages,
    ),
  );
}

/** Runs npm, its talk on stderr; returns its exit code. */
function npm(args, cwd = ROOT) {
  const { program, args: first, shell } = npmCommand();
  return spawnSync(program, [...first, ...args], { cwd, stdio: ['ignore', 2, 2], shell }).status;
}

/** The npm that started us, run by the same Node; otherwise the one on the PATH. */
function npmCommand() {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('npm-cli.js')) return { program: process.execPath, args: [cli], shell: false };
  // On Windows npm is a .cmd file, which only a shell can start.
  return { program: 'npm', args: [], shell: process.platform === 'win32' };
}

function isBuildStale() {
  if (!existsSync(BUILD_STAMP)) return true;
  const builtAt = statSync(BUILD_STAMP).mtimeMs;
  const projects = readJson(join(ROOT, 'tsconfig.json')).references.map(({ path }) => join(ROOT, path));
  if (projects.some((project) => !existsSync(join(project, 'dist', '.tsbuildinfo')))) return true;
  const configs = ['tsconfig.json', 'tsconfig.base.json', 'package-lock.json'].map((name) =>
    join(ROOT, name),
  );
  return (
    configs.some((file) => isNewer(file, builtAt)) ||
    projects.some(
      (project) =>
        isNewer(join(project, 'tsconfig.json'), builtAt) || isFolderNewer(join(project, 'src'), builtAt),
    )
  );
}

function isNewer(file, time) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs > time;
}

/** Folders count too: their time changes when a file is removed. */
function isFolderNewer(folder, time) {
  if (isNewer(folder, time)) return true;
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    // Not by `join`, which takes as long as the file system for so many.
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? isFolderNewer(path, time) : isNewer(path, time);
  });
}

/** What the page of packages/studio is made of. */
const PAGE_SOURCES = [
  'studio/src',
  'sdk/src',
  'protocol/src',
  'engine/src/core/diff',
  'engine/src/core/json',
];
const PAGE = join(ROOT, 'packages/studio');

function isPageStale() {
  const builtAt = statSync(join(PAGE, 'dist/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const files = ['index.html', 'vite.config.ts', 'vite-plugins.ts', 'package.json'];
  return (
    files.some((name) => isNewer(join(PAGE, name), builtAt)) ||
    PAGE_SOURCES.some((folder) => isFolderNewer(join(ROOT, 'packages', folder), builtAt))
  );
}

/** Before the compiler, whose record of the package is in the folder that this empties. */
function buildPage() {
  const started = performance.now();
  say('building the page: vite build');
  const args = [tool('vite/bin/vite.js'), 'build', '--logLevel', 'error'];
  const result = spawnSync(process.execPath, args, { cwd: PAGE, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) stop('the build of the page failed (see above).');
  say(`built the page in ${seconds(started)}`);
}

function compile() {
  if (isPageStale()) buildPage();
  const started = performance.now();
  // Taken before the compiler reads: what changes while it runs is built again next time.
  const readAt = new Date();
  say('building: tsc -b');
  const result = spawnSync(process.execPath, [tool('typescript/bin/tsc'), '-b'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) stop('the build failed (see above).');
  writeFileSync(BUILD_STAMP, readAt.toISOString());
  utimesSync(BUILD_STAMP, readAt, readAt);
  say(`built in ${seconds(started)}`);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Talk goes to stderr; stdout belongs to what the command prints. */
function say(line) {
  process.stderr.write(`weft: ${line}\n`);
}

function stop(line) {
  say(line);
  process.exit(3);
}
