/**
 * `npm run screenshots [-- FOLDER]`: every page of the studio in both themes and widths, as PNG files in FOLDER (screenshots), to be looked at.
 * Those that the README shows are also written to docs/guide/studio.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureReady, ensureTools, ROOT } from './bootstrap.mjs';
import { openBrowser } from './browser/browser.mjs';
import { fillHost, PAGES, SIZES, THEMES } from './browser/screenshot-pages.mjs';
import { goTo, openStudio, startStudioHost } from './browser/studio.mjs';

const IN_README = ['run', 'compare'];

ensureReady();
ensureTools();
const folder = resolve(process.argv[2] ?? join(ROOT, 'screenshots'));
mkdirSync(folder, { recursive: true });
const host = await startStudioHost();
const browser = await openBrowser();
try {
  const runs = await fillHost(host);
  for (const colorScheme of THEMES)
    for (const viewport of SIZES) {
      const page = await browser.newPage({ colorScheme, viewport, reducedMotion: 'reduce' });
      const { problems } = await openStudio(page, { host });
      for (const { name, place, sign, open } of PAGES) {
        await goTo(page, place(runs));
        await page.locator(sign).first().waitFor();
        if (name.startsWith('run-') || name === 'run')
          await page.locator('.run-head', { hasText: 'Started' }).waitFor();
        if (open === true) {
          for (const fold of await page.locator('.graph-fold').all()) await fold.click();
          await page.waitForLoadState('networkidle');
          await page.locator('.graph[aria-busy="false"]').waitFor();
        }
        // Labels of edges are placed once they are measured.
        await page.evaluate(() => new Promise((done) => globalThis.setTimeout(done, 100)));
        const path = join(folder, `${name}-${colorScheme}-${viewport.width}.png`);
        await page.screenshot({ path });
        if (IN_README.includes(name) && colorScheme === 'light' && viewport.width === 1280)
          copyFileSync(path, join(ROOT, `docs/guide/studio/${name}.png`));
        process.stdout.write(`${path}\n`);
      }
      if (problems.length > 0) throw new Error(problems.join('\n'));
      await page.close();
    }
} finally {
  await browser.close();
  await host.stop();
}
