import { createServer } from 'node:http';

/**
 * What the bench sees of a peer: GET /ready, and GET /load?workload=A&clients=64&ms=1000, which keeps so many runs going and
 * answers with what was done in which time. SIGTERM closes the peer.
 */
export function serveControl({ port, run, close }) {
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url, 'http://peer');
    const answer = (status, value) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname !== '/load') {
      answer(200, {});
      return;
    }
    const clients = Number(searchParams.get('clients'));
    load(() => run(searchParams.get('workload')), clients, Number(searchParams.get('ms'))).then(
      (result) => answer(200, result),
      (error) => answer(500, { message: String(error?.stack ?? error) }),
    );
  });
  server.listen(port, '127.0.0.1');
  closeOnTerm(close);
}

export function closeOnTerm(close) {
  process.once('SIGTERM', () => {
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}

/** Clients in a loop, in the peer's own process. A run that was begun in time counts when it is over, as with the host. */
async function load(run, clients, ms) {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() - started < ms) {
        await run();
        done += 1;
      }
    }),
  );
  return { done, elapsedMs: performance.now() - started };
}
