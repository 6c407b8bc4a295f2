/** `npm run screenshots [-- FOLDER]`: every page of the studio in both themes and widths, as PNG files for the documentation. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureReady, ensureTools, ROOT } from './bootstrap.mjs';
import { openBrowser } from './browser/browser.mjs';
import { fillHost, PAGES, SIZES, THEMES } from './browser/screenshot-pages.mjs';
import { goTo, openStudio, startStudioHost } from './browser/studio.mjs';

ensureReady();
ensureTools();
const folder = resolve(process.argv[2] ?? join(ROOT, 'docs/guide/studio'));
mkdirSync(folder, { recursive: true });
const host = await startStudioHost();
const browser = await openBrowser();
try {
  const runs = await fillHost(host);
  for (const colorScheme of THEMES)
    for (const viewport of SIZES) {
      const page = await browser.newPage({ colorScheme, viewport, reducedMotion: 'reduce' });
      const { problems } = await openStudio(page, { host });
      for (const { name, place } of PAGES) {
        await goTo(page, place(runs));
        const path = join(folder, `${name}-${colorScheme}-${viewport.width}.png`);
        await page.screenshot({ path });
        process.stdout.write(`${path}\n`);
      }
      if (problems.length > 0) throw new Error(problems.join('\n'));
      await page.close();
    }
} finally {
  await browser.close();
  await host.stop();
}
