import { afterAll, beforeAll, expect, it } from 'vitest';
import { seriousFindings } from './accessibility.mjs';
import { hasBrowser, openBrowser } from './browser.mjs';

const BROWSERS = hasBrowser() ? ['Chromium'] : [];
let browser;

beforeAll(async () => {
  if (hasBrowser()) browser = await openBrowser();
});

afterAll(() => browser?.close());

it.each(BROWSERS)('names what is wrong with a page in %s, and where', async () => {
  const page = await browser.newPage();
  await page.setContent('<html lang="en"><title>t</title><main><h1>A</h1><button id="x"></button></main>');

  const findings = await seriousFindings(page);

  expect(findings).toEqual([expect.stringMatching(/^button-name: .*\(#x\)$/)]);
});

it.each(BROWSERS)('finds nothing wrong with a plain page in %s, under a strict policy too', async () => {
  const page = await browser.newPage();
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'">`;
  await page.setContent(
    `<html lang="en"><head>${policy}<title>t</title></head><main><h1>A</h1><button>Press</button></main>`,
  );

  expect(await seriousFindings(page)).toEqual([]);
});

it.each(BROWSERS)('shows text in %s, of the same width on every machine', async () => {
  const page = await browser.newPage();
  await page.setContent(
    '<span id="m" style="font: 20px monospace">iiii</span><span id="s" style="font: 20px sans-serif">iiii</span>',
  );
  const width = (id) => page.evaluate((its) => globalThis.document.getElementById(its).offsetWidth, id);

  expect(await width('m')).toBe(48);
  expect(await width('s')).toBeLessThan(30);
});
