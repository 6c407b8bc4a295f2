/** A Fastify that parses a JSON body and answers with JSON: the ceiling of every HTTP figure. Argument: PORT. */
import { fastify } from 'fastify';

const app = fastify({ logger: false, forceCloseConnections: true });
app.get('/ready', (_request, reply) => reply.send({}));
app.post('/echo', (_request, reply) =>
  reply.code(201).send({ runId: '0123456789abcdef', status: 'running' }),
);

process.on('SIGTERM', () => {
  void app.close().then(() => process.exit(0));
});

await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
process.send?.({ ready: true });
