/**
 * Restate: `node restate.mjs INGRESS_PORT ECHO FOLDER`. This process holds the workflows, as every user of Restate has one, and the
 * server as its child. A run is created by POST /workflow-a/KEY/run on the ingress, which answers when it is over. Settings as
 * shipped; they sync every append of the log, so there is no stricter one. Its telemetry is off.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createEndpointHandler, service, workflow } from '@restatedev/restate-sdk';
import { closeOnTerm } from './control.mjs';
import { createEchoCall } from './echo-call.mjs';

const START_TIMEOUT_MS = 30_000;
const [ingressPort, echoUrl, folder] = process.argv.slice(2);
const callEcho = createEchoCall(echoUrl);

const chain = (steps, step) => async (context) => {
  let last = null;
  for (let index = 0; index < steps; index += 1) last = await context.run(`n${index + 1}`, step);
  return last;
};
const chains = {
  a: chain(1, async () => null),
  e: chain(10, callEcho),
  // As E with functions of a user that answer.
  answer: chain(10, async () => ({ ok: true })),
};
const services = Object.entries(chains).flatMap(([name, run]) => [
  workflow({ name: `workflow-${name}`, handlers: { run } }),
  service({ name: `service-${name}`, handlers: { run } }),
]);

const [endpointPort, adminPort, nodePort] = await freePorts(3);
// Without a line per invocation, which the SDK would write otherwise.
const handler = createEndpointHandler({ services, logger: () => undefined });
createHttp2Server(handler).listen(endpointPort, '127.0.0.1');
const server = spawn(serverPath(), ['--no-logo', '--base-dir', folder, '--node-name', 'bench'], {
  env: {
    PATH: process.env.PATH,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_BIND_PORT: String(nodePort),
    RESTATE_ADMIN__BIND_PORT: String(adminPort),
    RESTATE_INGRESS__BIND_PORT: ingressPort,
    RESTATE_LOG_FILTER: 'error',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.on('exit', () => server.kill('SIGKILL'));
server.once('exit', (code) => process.exit(code ?? 1));
closeOnTerm(async () => {
  server.removeAllListeners('exit');
  server.kill('SIGKILL');
  await once(server, 'exit');
});
await register(`http://127.0.0.1:${endpointPort}`);

function serverPath() {
  const resolver = createRequire(
    createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'),
  );
  return resolver.resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  );
}

/** The ingress refuses calls until the services are known to it. */
async function register(uri) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri }),
    }).catch(() => undefined);
    if (answer?.ok) return;
    await pause(100);
  }
  throw new Error('Restate did not take the services in time');
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((one) => once(one, 'listening')));
  const ports = servers.map((one) => one.address().port);
  await Promise.all(servers.map((one) => once(one.close(), 'close')));
  return ports;
}
