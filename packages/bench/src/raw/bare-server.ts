/**
 * Ceilings of every HTTP figure. Arguments: PORT and what to serve: `post`, a Fastify that parses a JSON body and answers with
 * JSON; or `sse`, a fan-out on node:http alone.
 */
import { fastify } from 'fastify';
import { startFanOut } from './fan-out-server.ts';

const [port = '0', what = 'post'] = process.argv.slice(2);

if (what === 'sse') {
  const close = startFanOut(Number(port));
  process.on('SIGTERM', () => {
    close();
    process.exit(0);
  });
} else {
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.get('/ready', (_request, reply) => reply.send({}));
  app.post('/echo', (_request, reply) =>
    reply.code(201).send({ runId: '0123456789abcdef', status: 'running' }),
  );
  process.on('SIGTERM', () => {
    void app.close().then(() => process.exit(0));
  });
  await app.listen({ port: Number(port), host: '127.0.0.1' });
}
