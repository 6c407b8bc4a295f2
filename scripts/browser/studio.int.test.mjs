import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, openBrowser } from './browser.mjs';
import { openStudio, startStudioHost } from './studio.mjs';

/** How a host serves pages, seen by a browser: what the policy forbids, and what other sites can do. The page is one of the test's own. */

const BROWSERS = hasBrowser() ? ['Chromium'] : [];
const PAGE = `<!doctype html><html lang="en"><head><title>page</title>
<link rel="stylesheet" href="./assets/page-12345678.css"></head>
<body><p id="who">no key</p><p id="inline">untouched</p>
<script>document.getElementById('inline').textContent = 'changed'</script>
<script type="module" src="./assets/page-12345678.js"></script></body></html>`;
/** Signs in as a page does that knows nothing but its own address. */
const SCRIPT = `
const at = location.pathname.lastIndexOf('/studio/');
const host = location.origin + location.pathname.slice(0, at);
const code = /^#code=(.+)$/.exec(location.hash)?.[1];
if (code !== undefined) {
  history.replaceState(null, '', '#/runs');
  const answer = await fetch(host + '/v1/host/weft/sessions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) });
  const { key, error } = await answer.json();
  if (key === undefined) document.getElementById('who').textContent = error;
  else {
    sessionStorage.setItem('key', key);
    const current = await fetch(host + '/v1/host/weft/sessions/current', { headers: { authorization: 'Bearer ' + key } });
    document.getElementById('who').textContent = (await current.json()).principal;
  }
}`;

let folder;
let browser;
let host;

beforeAll(async () => {
  if (!hasBrowser()) return;
  folder = mkdtempSync(join(tmpdir(), 'weft-page-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets/page-12345678.js'), SCRIPT);
  writeFileSync(join(folder, 'assets/page-12345678.css'), 'p { color: rgb(1, 2, 3) }');
  browser = await openBrowser();
  host = await startStudioHost({ studioDir: folder });
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

const textOf = (page, id) => page.locator(`#${id}`).textContent();

describe.each(BROWSERS)('in %s', () => {
  it('a link signs in once, and the page runs no script but its own', async () => {
    const page = await browser.newPage();

    const { problems } = await openStudio(page, { host });

    await expect.poll(() => textOf(page, 'who')).toBe('operator');
    expect(await textOf(page, 'inline')).toBe('untouched');
    expect(problems).toEqual([expect.stringMatching(/^policy: .*script/)]);
    const colour = await page.locator('#who').evaluate((node) => globalThis.getComputedStyle(node).color);
    expect(colour).toBe('rgb(1, 2, 3)');
  });

  it('a link that was used does not sign in again', async () => {
    const link = await host.signInLink();
    const [first, second] = [await browser.newPage(), await browser.newPage()];
    await first.goto(link);
    await expect.poll(() => textOf(first, 'who')).toBe('operator');

    await second.goto(link);

    await expect.poll(() => textOf(second, 'who')).toBe('sign_in_code_invalid');
  });

  it('the page is whole at every address below it, and after the host was killed and came back', async () => {
    const page = await browser.newPage();
    await page.goto(`${host.url}/studio/runs/some/where`);
    const colour = () => page.locator('#who').evaluate((node) => globalThis.getComputedStyle(node).color);
    expect(await colour()).toBe('rgb(1, 2, 3)');

    await host.kill();
    await host.restart();
    await page.reload();

    expect(await colour()).toBe('rgb(1, 2, 3)');
  });

  it('no other site shows the page in a frame, or reads what the host answers', async () => {
    const link = await host.signInLink();
    const code = link.slice(link.indexOf('=') + 1);
    const hostile = createServer((_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><iframe id="frame" src="${host.url}/studio/"></iframe>`),
    );
    hostile.listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    try {
      const page = await browser.newPage();
      await page.goto(`http://localhost:${hostile.address().port}/`);
      const send = (mode, type) =>
        page.evaluate(
          ([url, body, itsMode, itsType]) =>
            globalThis
              .fetch(url, { method: 'POST', mode: itsMode, headers: { 'content-type': itsType }, body })
              .then(({ status, type: kind }) => `${kind} ${status}`)
              .catch(() => 'refused'),
          [`${host.url}/v1/host/weft/sessions`, JSON.stringify({ code }), mode, type],
        );

      expect(await page.frames()[1].locator('#who').count()).toBe(0);
      expect(await send('cors', 'application/json')).toBe('refused');
      expect(await send('no-cors', 'text/plain')).toBe('opaque 0');
      // The code was used by none of them.
      const own = await browser.newPage();
      await own.goto(link);
      await expect.poll(() => textOf(own, 'who')).toBe('operator');
    } finally {
      hostile.closeAllConnections();
      hostile.close();
    }
  });
});
