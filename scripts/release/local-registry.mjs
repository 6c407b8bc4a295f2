/** A registry on this machine, of tarballs only: an installation as users make it, without a network. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readTarball } from './tarball.mjs';

/** Of several versions of a package the last one given is the latest. */
export async function openRegistry(tarballs) {
  const packages = new Map();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname.slice(1));
    const file = /^-\/(\d+)\.tgz$/.exec(path);
    if (file !== null) return response.end(readFileSync(tarballs[Number(file[1])]));
    const known = packages.get(path);
    response.writeHead(known === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ?? { error: 'not found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  for (const [index, path] of tarballs.entries()) {
    const manifest = JSON.parse(readTarball(path).get('package.json').toString('utf8'));
    const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
    const known = packages.get(manifest.name) ?? { name: manifest.name, versions: {} };
    const dist = { integrity, tarball: `${url}/-/${index}.tgz` };
    known.versions[manifest.version] = { ...manifest, dist };
    known['dist-tags'] = { latest: manifest.version };
    packages.set(manifest.name, known);
  }
  return { url, close: () => new Promise((done) => server.close(done)) };
}
