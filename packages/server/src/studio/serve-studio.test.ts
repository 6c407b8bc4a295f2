import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';
import type { StudioFile, StudioFiles } from './studio-files.ts';

let at: Harness;

afterEach(() => at.close());

function file(type: string, text: string, more: Partial<StudioFile> = {}): StudioFile {
  return { type, bytes: Buffer.from(text), etag: 'tag', isImmutable: false, packed: {}, ...more };
}

const INDEX =
  '<!doctype html><script type="module" src="./assets/app-12345678.js"></script><link href="./icon.svg">';
const STUDIO: StudioFiles = new Map([
  ['index.html', file('text/html; charset=utf-8', INDEX)],
  ['icon.svg', file('image/svg+xml', '<svg/>')],
  [
    'assets/app-12345678.js',
    file('text/javascript; charset=utf-8', 'run()', {
      isImmutable: true,
      packed: { br: Buffer.from('as brotli'), gzip: Buffer.from('as gzip') },
    }),
  ],
]);

/** Not by the harness's own call: the page is no part of the documented interface. */
async function get(
  url: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
) {
  const { statusCode: status, headers: answered, payload } = await at.app.inject({ method, url, headers });
  return { status, headers: answered, text: payload };
}

describe('the web page', () => {
  it('is reached from the root by browsers; others get the address of the operations', async () => {
    at = await openHarness({ studio: STUDIO });
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

    expect(await get('/', browser)).toMatchObject({ status: 302, headers: { location: 'studio/' } });
    expect(await get('/studio')).toMatchObject({ status: 308, headers: { location: 'studio/' } });
    for (const accept of ['*/*', 'application/json', 'text/html;q=0'])
      expect(await get('/', { accept })).toMatchObject({ status: 400 });
    for (const path of ['/index.html', '/favicon.ico', '/studious', '/assets/app-12345678.js'])
      expect(await get(path, browser)).toMatchObject({ status: 400 });
    expect(await get('/', browser, 'POST')).toMatchObject({ status: 400 });
    expect(await get('/studio/', browser, 'POST')).toMatchObject({ status: 400 });
  });

  it('is not there without a page to serve', async () => {
    at = await openHarness();

    expect(await get('/studio/')).toMatchObject({ status: 400 });
    expect(await get('/', { accept: 'text/html' })).toMatchObject({ status: 400 });
  });

  it('says how to build it where it is not built', async () => {
    at = await openHarness({ studio: 'not-built' });

    const answer = await get('/studio/runs');

    expect(answer).toMatchObject({ status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(answer.text).toContain('npm run build');
  });

  it('allows no script but its own, no frame around it, and tells no other site where it was', async () => {
    at = await openHarness({ studio: STUDIO });

    for (const path of [
      '/studio/',
      '/studio/runs/x',
      '/studio/assets/app-12345678.js',
      '/studio/assets/none.js',
    ]) {
      const { headers } = await get(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).toContain("connect-src 'self'; worker-src 'self';");
      expect(policy).toContain("base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it('is asked for again each time, and its files, whose names change with them, never', async () => {
    at = await openHarness({ studio: STUDIO });

    const page = await get('/studio/');
    expect(page).toMatchObject({ status: 200, text: INDEX, headers: { 'cache-control': 'no-cache' } });
    expect(await get('/studio/icon.svg')).toMatchObject({
      headers: { 'cache-control': 'no-cache', 'content-type': 'image/svg+xml' },
    });
    expect(await get('/studio/assets/app-12345678.js')).toMatchObject({
      text: 'run()',
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    });
    const known = { 'if-none-match': String(page.headers['etag']) };
    expect(await get('/studio/', known)).toMatchObject({ status: 304, text: '' });
    expect(await get('/studio/', {}, 'HEAD')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': String(INDEX.length) },
    });
  });

  it('is sent packed as the browser takes it, each way with a tag of its own', async () => {
    at = await openHarness({ studio: STUDIO });
    const taking = async (accepted: string) => {
      const { text, headers } = await get('/studio/assets/app-12345678.js', { 'accept-encoding': accepted });
      return [text, headers['content-encoding'], headers['etag'], headers['vary']];
    };

    expect(await taking('gzip, br')).toEqual(['as brotli', 'br', '"tag-br"', 'accept-encoding']);
    expect(await taking('gzip')).toEqual(['as gzip', 'gzip', '"tag-gz"', 'accept-encoding']);
    expect(await taking('br;q=0, identity')).toEqual(['run()', undefined, '"tag"', 'accept-encoding']);
  });

  it('is the same page at every address of its own, and finds its files from there', async () => {
    at = await openHarness({ studio: STUDIO });

    const { status, text, headers } = await get('/studio/runs/0198c0de/compare');

    expect(status).toBe(200);
    expect(text).toBe(INDEX.replaceAll('"./', '"../../'));
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', etag: '"tag-2"' });
  });

  it.each([
    '/studio/..%2f..%2fetc%2fpasswd',
    '/studio/..%5c..%5cwindows',
    '/studio/runs%00.html',
    `/studio/${'a/'.repeat(40)}`,
    '/studio/assets/',
    '/studio/assets/old-87654321.js',
    '/studio/assets/app-12345678.js.br',
  ])('serves nothing for %s (K-14)', async (url) => {
    at = await openHarness({ studio: STUDIO });

    expect(await get(url)).toMatchObject({ status: 404, text: 'There is no such file.\n' });
  });

  it.each([
    'evil.example',
    'evil.example:7878',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'a@localhost',
    '[::2]',
    '192.0.2.7',
  ])('is refused under the name %j (K-12)', async (host) => {
    at = await openHarness({ studio: STUDIO, publicUrl: 'https://weft.example.org/base' });

    for (const path of ['/studio', '/studio/', '/studio/assets/app-12345678.js'])
      expect(await get(path, { host })).toMatchObject({ status: 403 });
    expect(await get('/', { host, accept: 'text/html' })).toMatchObject({ status: 403 });
  });

  it.each([
    'localhost',
    'LOCALHOST:7878',
    'localhost.:7878',
    'studio.localhost',
    '127.0.0.1:1',
    '127.1.2.3',
    '[::1]:7878',
    'weft.example.org',
    'other.example:444',
  ])('is served under the name %j (K-12)', async (host) => {
    at = await openHarness({
      studio: STUDIO,
      publicUrl: 'https://weft.example.org/base',
      allowedHosts: ['https://other.example:444'],
    });

    expect(await get('/studio/', { host })).toMatchObject({ status: 200 });
  });
});
