import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ALL_SCOPES,
  type AuditAnchor,
  type AuditEntry,
  type Caller,
  DEFAULT_TENANT,
  type GrpcOffer,
  type Host,
  type HostOptions,
  type Log,
  type Store,
  createHost,
  limitsFrom,
  publicKeyText,
} from '@weft/engine';
import { endpointOf, isHostError } from '@weft/protocol/plain';
import { A2A_PUSHES, type Telemetry, createApp, startServer } from '@weft/server';
import type { RunningGrpcServer } from '@weft/server/grpc';
import type { StoreLoss } from '@weft/storage';
import { openAnchorFile } from './keys/audit-anchor-file.ts';
import {
  type DataFolder,
  dataFolder,
  readUrlFile,
  removeUrlFile,
  writeUrlFile,
} from '../connecting/data-folder.ts';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { newIdentity, parseIdentity } from '../connecting/identity.ts';
import type { Io } from '../io.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { VERSION } from '../version.ts';
import { openStore, provideKeys, usesFolder } from './store/host-store.ts';
import { type BuiltInFixtures, registerFixtures } from './workflows/fixtures.ts';
import { conformanceFor } from './conformance.ts';
import { provideKeyFile } from './keys/key-file.ts';
import { chosenKey, provideFirstKey } from './keys/first-key.ts';
import { isLoopbackBind } from './settings/loopback.ts';
import { nameOf } from './settings/settings-table.ts';
import { shownUrl } from './store/postgres-url.ts';
import type { ServeSettings } from './settings/settings.ts';
import { type RunningTelemetry, startTelemetry } from './telemetry.ts';
import { type Connectors, readConnectors } from './connectors/connectors.ts';
import { suitePeerOf } from './connectors/peers.ts';
import type { TenantFolder } from '../packs/tenant-folders.ts';
import { type HostNodes, prepareHostNodes } from './nodes/host-nodes.ts';
import type { ServedNode } from './nodes/process-messages.ts';
import { startFailure } from './start-failure.ts';
import { findStudio, type ServedStudio, studioLink } from './studio.ts';
import { testOnly } from './settings/test-only.ts';
import { trialPatience } from './thread/watchdog.ts';
import { createTrials, type RunningTrials } from './trials/trials.ts';
import { type LoadedFile, loadWorkflowFiles } from './workflows/workflow-files.ts';

/** A host that answers requests, and the one way to end it. */
export interface RunningHost {
  readonly url: string;
  /** Absent where gRPC is not served. */
  readonly grpcEndpoint: string | undefined;
  /** Absent when nothing is kept in one. */
  readonly folder: DataFolder | undefined;
  /** The database, where it is not in the folder; without its password. */
  readonly store: string | undefined;
  readonly keyFrom: string;
  /** Where people open the web page; with a sign-in code on loopback. Absent where it is not served. */
  readonly studio: string | undefined;
  readonly files: readonly LoadedFile[];
  /** Node types of --nodes. */
  readonly nodes: readonly ServedNode[];
  /** Workflows of the default tenant, however they came into the store. */
  readonly registered: number;
  /** Absent on a live host. */
  readonly fixtures: BuiltInFixtures | undefined;
  /** Ends streams, lets what is in flight finish for a moment, releases every run, closes the store. */
  stop(): Promise<void>;
}

const SERVER_GRACE_MS = 800;
const HOST_GRACE_MS = 800;
const TELEMETRY_GRACE_MS = 300;
const DEFAULT_RATE_PER_SECOND = 200;

/**
 * Composes store, engine and server. Order matters: the store comes first (a folder has one owner), then the engine fixes
 * its mode, then keys and workflows, and the port opens last, when everything behind it is ready. From then on clients rely on
 * it, and a store that is away for a moment ends nothing.
 * Whatever was opened is closed again when a later step fails.
 */
export async function runHost(io: Io, settings: ServeSettings, log: Log): Promise<RunningHost> {
  const fromEnv = chosenKey(settings.host, io.env);
  const folder = dataFolder(io.cwd, settings.data);
  const isInFolder = usesFolder(settings, io.env);
  const place = settings.store === undefined ? folder.root : shownUrl(settings.store.url);
  const { clock, maxPageCount, retryScaleForTests } = testOnly(io.env, settings.conformance);
  const conformance = await conformanceFor(settings.conformance);
  const connectors = await readConnectors(settings, {
    cwd: io.cwd,
    log,
    suitePeer: suitePeerOf(settings.conformance, io.env),
  });
  const acceptLoss = settings.acceptDataLoss
    ? (loss: StoreLoss) => acceptanceOf(loss, folder, log)
    : undefined;
  const store = await openStore(settings, folder, log, { maxPageCount, acceptLoss });
  const { secretsKey, auditKey, auditAnchor } = await provideKeysAndAnchor(io, settings, {
    store,
    folder,
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const trials = createTrials({
    store,
    log,
    setup: { conformance: settings.conformance, limits: settings.limits, secretsKey },
    stuckMs: trialPatience(io.env),
  });
  let ownUrl: string | undefined;
  let grpc: GrpcOffer | undefined;
  const host = createHost({
    store,
    log,
    version: VERSION,
    limits: settings.limits,
    conformance,
    auditRuns: settings.auditRuns,
    egressAllow: settings.allowEgress,
    ...connectors.options,
    ...(await packOptions(settings)),
    ownUrl: () => ownUrl,
    ...(settings.publicUrl === undefined ? {} : { publicUrl: settings.publicUrl }),
    secretsKey,
    auditKey,
    auditAnchor,
    node: hostname(),
    mcpServerUrls: [endpointOf('sendMcpMessage').path],
    agentCardUrl: endpointOf('getAgentCard').path,
    taskPushes: A2A_PUSHES,
    exportsTelemetry: settings.otlp !== undefined,
    grpc: () => grpc,
    trials,
    ...(clock === undefined ? {} : { clock }),
    ...(retryScaleForTests === undefined ? {} : { retryScaleForTests }),
  });
  const parts = { host, store, connectors, trials };
  let telemetry: RunningTelemetry | undefined;
  let nodes: HostNodes | undefined;
  let server: Doors | undefined;
  try {
    // Before the engine continues the runs it finds, so that none of their events is missed.
    telemetry = await startTelemetry(host, settings, log);
    await startEngine(host, place, settings);
    await connectors.check(host, operator(settings.conformance));
    const { key, keyFrom } = await provideFirstKey({
      store,
      folder,
      fromEnv,
      test: settings.conformance,
      isShared: settings.store !== undefined,
    });
    const packs = await provideAgents(host, settings, io.cwd);
    const news = new Map<string, LoadedFile>();
    const onNews = (loaded: LoadedFile) => {
      news.set(loaded.file, loaded);
      tellNews(loaded, log);
    };
    const files = await loadWorkflowFiles(
      host,
      operator(settings.conformance),
      settings.workflows.map((path) => resolve(io.cwd, path)),
      { strict: settings.strict, dev: settings.dev, onNews },
    );
    const fixtures = settings.conformance ? await registerFixtures(host, operator(true), files) : undefined;
    const identity = isInFolder ? await provideIdentity(folder) : undefined;
    const studio = await findStudio(settings, io.cwd);
    nodes = await prepareHostNodes(host, operator(settings.conformance), settings, {
      cwd: io.cwd,
      packs,
      log,
    });
    server = await listen(host, settings, log, { telemetry, identity, studio });
    const { grpcEndpoint } = server;
    grpc = grpcEndpoint === undefined ? undefined : { endpoint: grpcEndpoint, tls: 'disabled' };
    const url = reachableUrl(server.url);
    ownUrl = url;
    const served = await nodes.start(url);
    const filesNow = () => files.map((loaded) => news.get(loaded.file) ?? loaded);
    await untilRegistered(filesNow, served);
    const registered = await countWorkflows(store).catch(() => filesNow().filter(isRegistered).length);
    if (isInFolder) await writeUrlFile(folder, url);
    return {
      url,
      grpcEndpoint,
      folder: isInFolder ? folder : undefined,
      store: settings.store === undefined ? undefined : place,
      keyFrom,
      studio: await studioLink(host, key, { studio, bind: settings.host, url }),
      files: filesNow(),
      nodes: served,
      registered,
      fixtures,
      async stop() {
        await stopParts({ ...parts, telemetry, nodes, server }, HOST_GRACE_MS, TELEMETRY_GRACE_MS);
        // Another process may have said in the same folder where it listens.
        if (isInFolder && (await readUrlFile(folder)) === url) await removeUrlFile(folder);
      },
    };
  } catch (error) {
    await stopParts({ ...parts, telemetry, nodes, server }, 0, 0);
    throw startFailure(error, place);
  }
}

const REGISTER_MS = 1_000;

/** Files that waited for types that are served now are registered in a moment; what the host says of itself waits for that. */
async function untilRegistered(
  files: () => readonly LoadedFile[],
  served: readonly ServedNode[],
): Promise<void> {
  const known = new Set(served.map(({ typeId }) => typeId));
  const isDue = (loaded: LoadedFile) =>
    'waitingFor' in loaded && loaded.waitingFor.every((typeId) => known.has(typeId));
  const deadline = performance.now() + REGISTER_MS;
  while (files().some(isDue) && performance.now() < deadline) await pause(10);
}

function isRegistered(loaded: LoadedFile): boolean {
  return 'id' in loaded;
}

/** A file whose node types came, or changed, after the start. */
function tellNews(loaded: LoadedFile, log: Log): void {
  const { file } = loaded;
  if ('id' in loaded) {
    const { id, version } = loaded;
    log('info', { file, id, version }, 'workflow registered: its node types are known');
  } else if ('waitingFor' in loaded) {
    log('warn', { file, waitingFor: [...loaded.waitingFor] }, 'workflow waits for node types');
  } else log('warn', { file, problems: [...loaded.problems] }, 'workflow not registered');
}

/** Who accepted what: the audit log explains later where those runs are. */
function acceptanceOf(loss: StoreLoss, { database }: DataFolder, log: Log): AuditEntry {
  log(
    'error',
    { ...loss },
    'acknowledged writes are missing; the host continues without them, as --accept-data-loss says',
  );
  return {
    at: Date.now(),
    tenant: DEFAULT_TENANT,
    actor: 'operator',
    action: 'store.accept_loss',
    target: database,
    details: { ...loss },
  };
}

/** What a host does with packs. The code for it is loaded where it is wanted. */
async function packOptions({
  registry,
  packs,
  conformance,
}: ServeSettings): Promise<Pick<HostOptions, 'packs' | 'nodePackRuntimes' | 'hasPackAgents'>> {
  return {
    hasPackAgents: packs !== undefined || conformance,
    packs: registry ? (await import('../packs/pack-format.ts')).PACK_FORMAT : undefined,
    nodePackRuntimes:
      packs === undefined && !conformance
        ? undefined
        : (await import('../packs/pack-runtimes.ts')).PACK_RUNTIMES,
  };
}

/** Definitions may pin them, so they are there before those are read. */
async function provideAgents(
  host: Host,
  settings: ServeSettings,
  cwd: string,
): Promise<readonly TenantFolder[]> {
  const caller = operator(settings.conformance);
  const own = settings.conformance ? (await import('../packs/suite-agents.ts')).SUITE_AGENTS : [];
  if (settings.packs === undefined) {
    if (own.length > 0) await host.agents.install(caller, own);
    return [];
  }
  const { installAgents } = await import('../packs/host-agents.ts');
  const { PackError } = await import('@weft/packs');
  try {
    return await installAgents(host, caller, resolve(cwd, settings.packs), own);
  } catch (error) {
    if (!(error instanceof PackError) && !isHostError(error, 'conflict')) throw error;
    throw unusable('packs_unusable', `The packs of --packs cannot be served.\n${error.message}`, error);
  }
}

async function provideKeysAndAnchor(
  io: Io,
  settings: ServeSettings,
  place: { readonly store: Store; readonly folder: DataFolder },
): Promise<Awaited<ReturnType<typeof provideKeys>> & { readonly auditAnchor: AuditAnchor | undefined }> {
  const keys = await provideKeys(io.env, settings, place);
  const { auditAnchor: file } = settings;
  const auditAnchor =
    file === undefined
      ? undefined
      : await openAnchorFile(resolve(io.cwd, file), publicKeyText(keys.auditKey));
  return { ...keys, auditAnchor };
}

const MOST_WORKFLOWS = 10_000;

async function countWorkflows(store: Pick<Store, 'listWorkflows'>): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await store.listWorkflows(DEFAULT_TENANT, { limit: 500, ...(cursor && { cursor }) });
    count += page.rows.filter(({ current }) => current).length;
    cursor = page.nextCursor;
  } while (cursor !== undefined && count < MOST_WORKFLOWS);
  return count;
}

async function startEngine(host: Host, place: string, settings: ServeSettings): Promise<void> {
  try {
    await host.start();
  } catch (error) {
    if (!isHostError(error, 'conflict')) throw error;
    const [is, wanted] = settings.conformance ? ['live', 'test'] : ['test', 'live'];
    const way = settings.conformance ? 'remove --conformance' : 'add --conformance';
    const [kind, other] =
      settings.store === undefined ? ['folder', '--data folder'] : ['store', '--store or --store-schema'];
    throw new CliError(
      EXIT.unmet,
      'data_folder_mode',
      `${place} is a ${is} ${kind} (permanent) and cannot be used as a ${wanted} host. Use another ${other}, or ${way}.`,
      { cause: error },
    );
  }
}

function provideIdentity(folder: DataFolder): Promise<Uint8Array> {
  return provideKeyFile({
    path: folder.identityFile,
    code: 'identity',
    holds: 'an identity',
    make: newIdentity,
    parse: parseIdentity,
    wayOut: 'Remove the file to create a new one.',
  });
}

/** Both doors, or none. */
interface Doors {
  readonly url: string;
  readonly grpcEndpoint: string | undefined;
  shutdown(): Promise<void>;
}

async function listen(
  host: Host,
  settings: ServeSettings,
  log: Log,
  {
    telemetry,
    identity,
    studio,
  }: {
    readonly telemetry: Telemetry;
    readonly identity: Uint8Array | undefined;
    readonly studio: ServedStudio | undefined;
  },
): Promise<Doors> {
  const perSecond = settings.rateLimit ?? (isLoopbackBind(settings.host) ? 0 : DEFAULT_RATE_PER_SECOND);
  const app = createApp({
    host,
    log,
    telemetry,
    options: {
      ...limitsFrom(settings.limits),
      accessLog: settings.accessLog,
      trustedProxies: settings.trustedProxies,
      allowedHosts: settings.allowedHosts,
      ...(identity === undefined ? {} : { identity }),
      ...(studio === undefined ? {} : { studio }),
      ...(settings.publicUrl === undefined ? {} : { publicUrl: settings.publicUrl }),
      ...(perSecond === 0 ? {} : { rateLimit: { perSecond, burst: perSecond * 2 } }),
    },
  });
  const grpc = await openPort(app, settings, 'grpcPort', () => startGrpc(app, settings));
  try {
    const server = await openPort(app, settings, 'port', (port) =>
      startServer(app, { host: settings.host, port, graceMs: SERVER_GRACE_MS }),
    );
    return {
      url: server.url,
      grpcEndpoint: grpc && `grpc://${new URL(server.url).hostname}:${grpc.port}`,
      async shutdown() {
        await Promise.all([grpc?.shutdown(), server.shutdown()]);
      },
    };
  } catch (error) {
    await grpc?.shutdown();
    throw error;
  }
}

/** Loaded only where it is wanted: its libraries take a tenth of a second and a few megabytes. */
async function startGrpc(
  app: ReturnType<typeof createApp>,
  { grpcPort: port, host }: ServeSettings,
): Promise<RunningGrpcServer | undefined> {
  if (port === undefined) return undefined;
  const { startGrpcServer } = await import('@weft/server/grpc');
  return startGrpcServer(app, { host, port, graceMs: SERVER_GRACE_MS });
}

async function openPort<Opened>(
  app: ReturnType<typeof createApp>,
  settings: ServeSettings,
  key: 'port' | 'grpcPort',
  open: (port: number) => Promise<Opened>,
): Promise<Opened> {
  const port = settings[key] ?? 0;
  try {
    return await open(port);
  } catch (cause) {
    await app.close();
    throw unusable(
      'cannot_listen',
      `Cannot listen on ${settings.host}:${port}: ${listenProblem(cause, `--${nameOf(key)}`)}`,
      cause,
    );
  }
}

function listenProblem(error: unknown, flag: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `another program uses this port. Choose another one with ${flag}.`;
  if (code === 'EACCES') return `permission denied. Choose a port above 1023 with ${flag}.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'this machine has no such address. See --host.';
  return reasonOf(error);
}

/** What there is of a host, while it starts and later. */
interface Parts {
  readonly host: Host;
  readonly store: Store;
  readonly connectors: Connectors;
  readonly trials: RunningTrials;
  readonly telemetry: RunningTelemetry | undefined;
  readonly nodes: HostNodes | undefined;
  readonly server: Doors | undefined;
}

async function stopParts(
  { host, store, connectors, trials, telemetry, nodes, server }: Parts,
  hostGraceMs: number,
  telemetryGraceMs: number,
): Promise<void> {
  try {
    await nodes?.stop();
    await server?.shutdown();
    trials.stop();
    await host.stop(hostGraceMs);
    await connectors.stop();
    await telemetry?.stop(telemetryGraceMs);
  } finally {
    // Whatever failed before: an open store would keep alive a process that serves no one.
    await store.close();
  }
}

/** An address to bind to is not always one to connect to. */
function reachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** On whose behalf files are registered. */
function operator(test: boolean): Caller {
  return {
    tenant: DEFAULT_TENANT,
    principal: 'operator',
    keyId: 'serve',
    kind: 'service',
    test,
    scopes: new Set(ALL_SCOPES),
  };
}
