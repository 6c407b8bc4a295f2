import { type Host, LOCALE, type Log } from '@weft/engine';
import { HostError } from '@weft/protocol';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { AppContext } from './app-context.ts';
import { createDenials } from './http/denials.ts';
import { boundBytesInFlight, createBytesInFlight } from './http/bytes-in-flight.ts';
import { packAnswers } from './http/content-coding.ts';
import { answerErrors, answerFrameworkError } from './http/errors.ts';
import { createFailedAttempts } from './http/failed-attempts.ts';
import { answerClientError, boundConnections, httpOptions } from './http/http-server.ts';
import { createGuard, type Guard } from './http/guard.ts';
import { answerUnknownRoutes } from './http/not-found.ts';
import { createHostCheck } from './http/allowed-host.ts';
import { createPublicUrl } from './http/public-url.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { createLargeBodies, readJsonOnly } from './http/read-json.ts';
import { requestIdOf } from './http/request-id.ts';
import { serveOperations, type ServedOperations } from './http/serve.ts';
import { traceparentOf } from './http/trace-context.ts';
import { type ServerOptions, type Settings, settingsFrom } from './options.ts';
import { artifactRoutes } from './routes/runs/artifacts.ts';
import { ancestryRoutes } from './routes/runs/ancestry.ts';
import { annotationRoutes } from './routes/runs/annotations.ts';
import { auditRoutes } from './routes/access/audit.ts';
import { bulkCancelRoutes } from './routes/runs/bulk-cancel.ts';
import { clusterRoutes } from './routes/operations/cluster.ts';
import { commandRoutes } from './routes/runs/commands.ts';
import { createRunRoutes } from './routes/runs/create-run.ts';
import { diffRoutes } from './routes/runs/diff.ts';
import { debugBundleRoutes } from './routes/runs/debug-bundle.ts';
import { discoveryRoutes } from './routes/operations/discovery.ts';
import { eventsRoutes } from './routes/runs/events.ts';
import { forkRoutes } from './routes/runs/fork.ts';
import { healthRoutes } from './routes/operations/health.ts';
import { keyRoutes } from './routes/access/keys.ts';
import { deliveryRoutes } from './routes/webhooks/deliveries.ts';
import { retentionRoutes } from './routes/operations/retention.ts';
import { listRunRoutes } from './routes/runs/list-runs.ts';
import { identityRoutes } from './routes/access/identity.ts';
import { importRoutes } from './routes/runs/imports.ts';
import { interruptRoutes } from './routes/interrupts/interrupts.ts';
import { mcpRoutes } from './routes/operations/mcp.ts';
import { metricsRoutes } from './routes/operations/metrics.ts';
import { documentRoutes } from './routes/operations/published-documents.ts';
import { readRunRoutes } from './routes/runs/read-run.ts';
import { deadLetterRoutes } from './routes/triggers/dead-letters.ts';
import { ingestRoutes } from './routes/triggers/ingest.ts';
import { agentRoutes } from './routes/agents/agents.ts';
import { promptRoutes } from './routes/prompts/prompts.ts';
import { scheduleRoutes } from './routes/triggers/schedules.ts';
import { triggerRoutes } from './routes/triggers/triggers.ts';
import { secretRoutes } from './routes/access/secrets.ts';
import { sessionRoutes } from './routes/access/sessions.ts';
import { stateAtRoutes } from './routes/runs/state-at.ts';
import { webhookRoutes } from './routes/webhooks/webhooks.ts';
import { a2aRoutes } from './routes/operations/a2a.ts';
import { peerRoutes } from './routes/tools/peers.ts';
import { toolServerRoutes } from './routes/tools/tool-servers.ts';
import { costRoutes } from './routes/costs/costs.ts';
import { modelRoutes } from './routes/models/models.ts';
import { nodeTypeRoutes } from './routes/workers/node-types.ts';
import { workerRoutes } from './routes/workers/workers.ts';
import { workflowRoutes } from './routes/workflows/workflows.ts';
import { serveRegistry } from './registry/serve-registry.ts';
import { createBatches } from './stream/batches.ts';
import { createOpenStreams } from './stream/open-streams.ts';
import { createAdmissionQueue } from './stream/admission-queue.ts';
import { serveStudio } from './studio/serve-studio.ts';
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export interface AppDeps {
  readonly host: Host;
  readonly options: ServerOptions;
  readonly log: Log;
  /** Without one the host is observed from here on, and nothing is exported. */
  readonly telemetry?: Telemetry;
}

/** What other doors to the same host use of this one, so that limits hold for all of them together. */
export interface SharedDoor {
  readonly context: AppContext;
  readonly guard: Guard;
  readonly operations: ServedOperations;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly shared: SharedDoor;
  }
}

/** Opening a live stream takes about 0.2 ms. */
const STREAMS_PER_TICK = 20;

const ROUTES_OF_APP = [
  discoveryRoutes,
  documentRoutes,
  healthRoutes,
  identityRoutes,
  metricsRoutes,
  workflowRoutes,
  createRunRoutes,
  readRunRoutes,
  diffRoutes,
  forkRoutes,
  ancestryRoutes,
  stateAtRoutes,
  eventsRoutes,
  commandRoutes,
  interruptRoutes,
  bulkCancelRoutes,
  debugBundleRoutes,
  importRoutes,
  annotationRoutes,
  listRunRoutes,
  retentionRoutes,
  keyRoutes,
  sessionRoutes,
  webhookRoutes,
  deliveryRoutes,
  promptRoutes,
  scheduleRoutes,
  triggerRoutes,
  ingestRoutes,
  deadLetterRoutes,
  secretRoutes,
  artifactRoutes,
  auditRoutes,
  clusterRoutes,
  workerRoutes,
  modelRoutes,
  costRoutes,
  nodeTypeRoutes,
  mcpRoutes,
  toolServerRoutes,
  peerRoutes,
  agentRoutes,
  a2aRoutes,
];

/** The whole HTTP surface in front of a host. Opens no port: `startServer` does, `inject` needs none. */
export function createApp({ host, options, log, telemetry }: AppDeps): FastifyInstance {
  const settings = settingsFrom(options);
  const app = createFastify(settings);
  boundConnections(app.server, settings, log);
  const observed = telemetry ?? createTelemetry({ host, log, version: '' });
  const context = createAppContext(host, settings, log, observed);

  app.decorateRequest('caller', undefined);
  readJsonOnly(app, context.largeBodies, settings.maxRequestBodyBytes);
  app.addHook('onRequest', (request, reply, done) => {
    reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-store')
      .header('content-language', LOCALE);
    const traceparent = request.headers['traceparent'];
    if (traceparent !== undefined) {
      const valid = traceparentOf(traceparent);
      if (valid !== undefined) reply.header('traceparent', valid);
    }
    if (context.streams.closing) reply.header('connection', 'close');
    done(request.headers.host === undefined && isOfHttp11(request) ? withoutHost() : undefined);
  });
  boundBytesInFlight(app, context.bytes, settings);
  packAnswers(app);
  if (settings.accessLog) logRequests(app, log);
  answerErrors(app, context);
  answerUnknownRoutes(app, context);
  const guard = createAppGuard(context);
  const operations = serveOperations(app, guard, (serve) => {
    for (const routes of ROUTES_OF_APP) routes(serve, context);
  });
  if (settings.studio !== undefined) serveStudio(app, settings.studio, context.checkHost);
  if (host.packs !== undefined) serveRegistry(app, host.packs, guard, context);
  app.decorate('shared', { context, guard, operations });
  if (telemetry === undefined) app.addHook('onClose', () => observed.stop(0));
  app.addHook('preClose', (done) => {
    context.streams.closeAll();
    for (const close of context.closers) close();
    done();
  });
  return app;
}

function createFastify(settings: Settings): FastifyInstance {
  return Fastify({
    logger: false,
    bodyLimit: settings.maxRequestBodyBytes,
    genReqId: requestIdOf,
    exposeHeadRoutes: true,
    trustProxy: settings.trustedProxies.length > 0 && [...settings.trustedProxies],
    http: httpOptions(settings),
    requestTimeout: settings.requestTimeoutMs,
    // A request on an open connection during shutdown is answered by the guard, with our envelope.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1_200 },
    frameworkErrors: (error, request, reply) => {
      reply.hijack();
      answerFrameworkError(error, request, reply.raw);
    },
    clientErrorHandler: answerClientError,
  });
}

function createAppContext(host: Host, settings: Settings, log: Log, telemetry: Telemetry): AppContext {
  return {
    host,
    settings,
    log,
    streams: createOpenStreams(settings),
    streamAdmission: createAdmissionQueue(STREAMS_PER_TICK),
    renderBatch: createBatches(),
    telemetry,
    publicUrl: createPublicUrl(settings),
    checkHost: createHostCheck(settings),
    attempts: createFailedAttempts({ limit: settings.failedAttemptsPerMinute, log }),
    bytes: createBytesInFlight(settings.maxBytesInFlight),
    largeBodies: createLargeBodies(),
    closers: [],
  };
}

function createAppGuard({ host, settings, log, streams, attempts }: AppContext): Guard {
  return createGuard({
    host,
    streams,
    limiter: settings.rateLimit === undefined ? undefined : createRateLimiter(settings.rateLimit),
    denials: createDenials(host.audit, log, settings.auditedDenialsPerSecond),
    attempts,
  });
}

function isOfHttp11({ raw }: FastifyRequest): boolean {
  return raw.httpVersionMajor === 1 && raw.httpVersionMinor === 1;
}

function withoutHost(): HostError {
  return new HostError('validation_error', 'Send a Host header: HTTP/1.1 requires one.', { field: 'Host' });
}

function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    log(
      'info',
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? '',
        scope: request.routeOptions.config.scope,
        keyId: request.caller?.keyId,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    );
    done();
  });
}
