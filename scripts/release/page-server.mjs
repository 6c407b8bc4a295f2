/** A page with the files of the SDK, and behind them a host: a browser lets a page talk to its own origin only. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';

const PAGE = readFileSync(join(import.meta.dirname, 'sdk-page.html'));

/** `files` are those of the package, by their path inside it. */
export async function openPageServer(files, hostUrl) {
  const server = createServer((incoming, response) => {
    const path = incoming.url;
    if (path === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    if (path.startsWith('/v1/')) return forward(hostUrl, incoming, response);
    const file = files.get(path.replace('/sdk/', ''));
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': 'text/javascript' }).end(file);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

function forward(hostUrl, incoming, response) {
  const { method, headers } = incoming;
  const outgoing = request(new URL(incoming.url, hostUrl), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  outgoing.once('error', () => response.destroy());
  response.once('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}
