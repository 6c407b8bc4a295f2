/** A real browser for tests: Debian's Chromium where it is installed, otherwise the one of tools/browser. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './bootstrap.mjs';

const SYSTEM = '/usr/bin/chromium';
/** What the package of tools/browser was built for. */
const PLATFORM = 'linux-x64';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const tools = createRequire(join(ROOT, 'tools/browser/package.json'));

export function hasBrowser() {
  return existsSync(SYSTEM) || `${process.platform}-${process.arch}` === PLATFORM;
}

/** With an empty profile, which goes away when the browser is closed. */
export async function openBrowser() {
  const { chromium } = await imported('playwright-core');
  const executablePath = existsSync(SYSTEM) ? SYSTEM : await unpackedChromium();
  return chromium.launch({ executablePath, args: FLAGS, headless: true });
}

/** The package brings it compressed, and would unpack it under a name that everyone on this machine can guess and take. */
async function unpackedChromium() {
  const { dependencies } = tools('./package.json');
  const folder = join(ROOT, `tools/browser/node_modules/.chromium-${dependencies['@sparticuz/chromium']}`);
  const path = join(folder, 'chromium');
  if (existsSync(path)) return path;
  const { TMPDIR } = process.env;
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    process.env.TMPDIR = unfinished;
    await (await imported('@sparticuz/chromium')).executablePath();
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(path)) throw error;
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(unfinished, { recursive: true, force: true });
  }
  return path;
}

async function imported(name) {
  return (await import(pathToFileURL(tools.resolve(name)).href)).default;
}
