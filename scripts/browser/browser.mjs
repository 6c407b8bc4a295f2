/** A real browser for tests: Debian's Chromium where it is installed, otherwise the one of tools/browser. */
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { ROOT } from '../bootstrap.mjs';

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
  // The same pixels on every machine.
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
];

const tools = createRequire(join(ROOT, 'tools/browser/package.json'));

export function hasBrowser() {
  return existsSync(SYSTEM) || `${process.platform}-${process.arch}` === PLATFORM;
}

/** With an empty profile and temporary files of its own, which go away when the browser is closed. */
export async function openBrowser() {
  const { chromium } = await imported('playwright-core');
  const folder = mkdtempSync(join(tmpdir(), 'weft-browser-'));
  try {
    const { executablePath, libraries } = existsSync(SYSTEM)
      ? { executablePath: SYSTEM }
      : await unpackedChromium();
    const browser = await chromium.launch({
      executablePath,
      args: FLAGS,
      headless: true,
      env: {
        ...process.env,
        TMPDIR: folder,
        FONTCONFIG_FILE: writeFontConfig(folder),
        ...(libraries !== undefined && { LD_LIBRARY_PATH: libraries }),
      },
    });
    browser.on('disconnected', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    return browser;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The source text of axe-core, to be evaluated in a page. */
export function axePath() {
  return tools.resolve('axe-core/axe.min.js');
}

/** A machine without a desktop has no fonts, and a browser without fonts shows no text. */
function writeFontConfig(folder) {
  const fonts = join(dirname(tools.resolve('dejavu-fonts-ttf/package.json')), 'ttf');
  const path = join(folder, 'fonts.conf');
  mkdirSync(join(folder, 'fonts-cache'));
  const families = [
    ['sans-serif', 'DejaVu Sans'],
    ['system-ui', 'DejaVu Sans'],
    ['serif', 'DejaVu Serif'],
    ['monospace', 'DejaVu Sans Mono'],
    ['ui-monospace', 'DejaVu Sans Mono'],
  ].map(
    ([family, font]) => `<alias><family>${family}</family><prefer><family>${font}</family></prefer></alias>`,
  );
  writeFileSync(
    path,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${fonts}</dir><cachedir>${join(folder, 'fonts-cache')}</cachedir>${families.join('')}${OTHERWISE}</fontconfig>\n`,
  );
  return path;
}

/** What a desktop would say for `system-ui`. */
const OTHERWISE =
  '<match target="pattern"><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>';

/** The package brings it compressed, and would unpack it under a name that everyone on this machine can guess and take. */
async function unpackedChromium() {
  const { dependencies } = tools('./package.json');
  const version = dependencies['@sparticuz/chromium'];
  const folder = join(ROOT, `tools/browser/node_modules/.chromium-${version}-with-libraries`);
  const unpacked = { executablePath: join(folder, 'chromium'), libraries: join(folder, 'al2023/lib') };
  if (existsSync(unpacked.executablePath)) return unpacked;
  const { TMPDIR } = process.env;
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    process.env.TMPDIR = unfinished;
    await (await imported('@sparticuz/chromium')).executablePath();
    await unpackLibraries(join(unfinished, 'al2023'));
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(unpacked.executablePath)) throw error;
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(unfinished, { recursive: true, force: true });
  }
  return unpacked;
}

/** libnss3 and what it needs, which a machine without a browser has not. The package unpacks them on Amazon's machines alone. */
async function unpackLibraries(folder) {
  if (existsSync(folder)) return;
  const archive = join(dirname(tools.resolve('@sparticuz/chromium')), '../../bin/al2023.tar.br');
  const { extract } = await imported('tar-fs');
  await pipeline(createReadStream(archive), createBrotliDecompress(), extract(folder));
}

async function imported(name) {
  return (await import(pathToFileURL(tools.resolve(name)).href)).default;
}
