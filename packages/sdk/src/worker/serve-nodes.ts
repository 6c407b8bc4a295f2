import {
  endpointOf,
  type NodeTypeDocument,
  type RegisteredWorker,
  type RegisterWorkerRequest,
} from '@weft/protocol/plain';
import type { NodeDefinition } from '../nodes/node-definition.ts';
import { nodeTypeDocument } from '../nodes/node-type-document.ts';
import { ApiError, ConnectionError } from '../requests/errors.ts';
import { pause } from '../requests/retry.ts';
import { createTransport, type Fetch, type Transport } from '../requests/transport.ts';
import { deferred } from './deferred.ts';
import { createHand, type Hand } from './hand.ts';
import { createLease, msSince, now } from './lease.ts';
import { createOutgoing } from './outgoing.ts';
import type { WorkerLog } from './report-sender.ts';
import { openSession, type Session } from './session.ts';
import type { Around } from './task.ts';

export interface ServeNodesOptions {
  /** Of the host. Default: the environment's WEFT_URL. */
  readonly url?: string | undefined;
  /** With the scope workers:serve. Default: the environment's WEFT_API_KEY. */
  readonly apiKey?: string | undefined;
  /** Tasks at the same time; default: 32. */
  readonly concurrency?: number | undefined;
  /** For people; default: "worker". */
  readonly name?: string | undefined;
  /** Stops the worker as `stop` does. */
  readonly signal?: AbortSignal | undefined;
  /** How long tasks may take to end after `stop`, before others perform them again; default: 10,000. */
  readonly graceMs?: number | undefined;
  /** A version whose schemas have changed is served as VERSION+HEX, and not refused. */
  readonly dev?: boolean | undefined;
  /** Default: warnings and errors to standard error. */
  readonly log?: WorkerLog | undefined;
  readonly around?: Around | undefined;
  /** The description of a node type for the host; default: its ports, closed. */
  readonly documentOf?: ((node: NodeDefinition) => NodeTypeDocument) | undefined;
  /** Called whenever the host has accepted the node types; the versions are those it knows them by. */
  readonly onConnected?: ((registered: RegisteredWorker) => void) | undefined;
  readonly fetch?: Fetch | undefined;
}

export interface NodeWorker {
  /** Resolves after `stop`; rejects when the host refuses the worker for good, such as for its key or its types. */
  readonly ended: Promise<void>;
  /** Tasks that are running. */
  readonly running: number;
  /** Takes no new tasks, lets those that are running end for up to `graceMs`, leaves the rest to others, and ends. */
  stop(): Promise<void>;
}

const CONCURRENCY = 32;
const GRACE_MS = 10_000;
/** Text and progress are gathered for so long. */
const GATHER_MS = 50;
const FAREWELL_MS = 2_000;
const LOOK_MS = 5;
const STEADY_MS = 1_000;
const LONGEST_BACKOFF_MS = 5_000;

/**
 * Performs the tasks of node types for a host, as many at a time as `concurrency` says.
 *
 *   connecting ──registered──► connected ──cut off──► connecting       tasks in hand are kept while the lease holds
 *       └────────── stop ──────────┴──► draining ──no tasks, or graceMs──► ended
 *
 * V-6. When the lease has passed, connected or not, every task is stopped with `lease_lost`, and its result is dropped.
 * V-9. A task that the host leases to a new session, and that is no longer in hand, is left to others by closing that session.
 */
export function serveNodes(nodes: readonly NodeDefinition[], options: ServeNodesOptions = {}): NodeWorker {
  const concurrency = checked('concurrency', options.concurrency ?? CONCURRENCY, 1, 1_000);
  const graceMs = checked('graceMs', options.graceMs ?? GRACE_MS, 0, 86_400_000);
  const byName = indexed(nodes);
  const types = nodes.map(options.documentOf ?? nodeTypeDocument);
  const log = options.log ?? toStandardError;
  const transport = createTransport({ baseUrl: options.url, apiKey: options.apiKey, fetch: options.fetch });
  const stopping = new AbortController();
  const lease = createLease();
  const outgoing = createOutgoing();
  let session: Session | undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let watching: ReturnType<typeof setTimeout> | undefined;
  let heartbeatMs = 1_000;

  const hand = createHand({
    concurrency,
    outgoing,
    around: options.around,
    find: ({ typeId, version }) => byName.get(`${typeId}@${version}`) ?? byName.get(typeId),
    flush: () => session?.flush(),
    flushSoon() {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        session?.flush();
      }, GATHER_MS);
    },
  });

  function leasePassed(): void {
    if (hand.size > 0) log('warn', 'The lease has passed: tasks in hand are stopped.', { tasks: hand.size });
    hand.dropOthers([], 'lease_lost');
    session?.end('the lease has passed');
  }

  /** One timer for the lease and for heartbeats. */
  function watch(): void {
    clearTimeout(watching);
    const left = lease.leftMs();
    if (left <= 0) return leasePassed();
    session?.beat();
    const next = Math.max(heartbeatMs - lease.ageMs(), heartbeatMs / 10);
    watching = setTimeout(watch, Math.min(left, next));
  }

  async function connect(): Promise<void> {
    const sentAt = now();
    const resume = hand.refs();
    const body: RegisterWorkerRequest = {
      name: options.name ?? 'worker',
      capacity: concurrency,
      types,
      sdk: 'weft-sdk-js',
      ...(options.dev === true && { dev: true }),
      ...(resume.length > 0 && { resume }),
    };
    const registered = await transport.json<RegisteredWorker>(endpointOf('registerWorker'), {
      body,
      maxRetries: 0,
      timeoutMs: 30_000,
      signal: stopping.signal,
    });
    if (lease.leftMs() <= 0) leasePassed();
    hand.dropOthers(registered.resumed, 'lease_lost');
    if (!registered.resumed.every(hand.has)) return connectWithout(registered);
    for (const { typeId, version } of registered.types) {
      const own = byName.get(`${typeId}@${version.replace(/\+.*$/, '')}`);
      if (own !== undefined && !byName.has(`${typeId}@${version}`)) byName.set(`${typeId}@${version}`, own);
    }
    lease.begin(sentAt, registered.leaseMs);
    heartbeatMs = registered.heartbeatMs;
    const { workerId } = registered;
    session = openSession({
      transport,
      workerId,
      heartbeatMs,
      lease,
      hand,
      outgoing,
      capacity: concurrency,
      log,
      leasePassed,
    });
    watch();
    log('info', 'Connected.', { workerId, resumed: registered.resumed.length });
    options.onConnected?.(registered);
    session.flush();
  }

  /** The host has leased tasks to this session that were dropped while it answered: others get them when it is closed. */
  async function connectWithout({ workerId }: RegisteredWorker): Promise<void> {
    try {
      await connect();
    } finally {
      await closeSession(transport, workerId).catch((error: unknown) =>
        log('debug', `A session could not be closed: ${messageOf(error)}`),
      );
    }
  }

  async function serve(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        await connect();
        const since = now();
        const why = await session?.ended;
        if (!stopping.signal.aborted) log('warn', `Disconnected: ${why}.`);
        // One that is cut off as soon as it is open is no success.
        if (msSince(since) > STEADY_MS) failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isFinal(error)) throw error;
        log(failures === 0 ? 'warn' : 'debug', `Not connected: ${messageOf(error)}`);
      } finally {
        session = undefined;
      }
      if (failures > 0) await pause(backoffMs(failures), stopping.signal).catch(() => undefined);
    }
  }

  async function live(): Promise<void> {
    try {
      const served = serve();
      const stopped = deferred();
      stopping.signal.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([served, stopped.promise]);
      if (session !== undefined) {
        await farewell(session, { hand, transport, graceMs }).catch((error: unknown) =>
          log('debug', `The farewell failed: ${messageOf(error)}`),
        );
      }
      await served;
    } finally {
      session?.end('stopped');
      clearTimeout(watching);
      clearTimeout(gathering);
      hand.dropOthers([], 'shutdown');
    }
  }

  const ended = live();
  const stop = () => {
    stopping.abort();
    return ended;
  };
  options.signal?.addEventListener('abort', () => stopping.abort(), { once: true });
  if (options.signal?.aborted === true) stopping.abort();
  return {
    ended,
    stop,
    get running() {
      return hand.running;
    },
  };
}

/** Waits for what is running, leaves the rest to others, and ends the session when all results were answered. */
async function farewell(
  session: Session,
  {
    hand,
    transport,
    graceMs,
  }: { readonly hand: Hand; readonly transport: Transport; readonly graceMs: number },
): Promise<void> {
  hand.drain();
  await Promise.race([hand.idle(graceMs), session.ended]);
  hand.stopAll();
  session.flush();
  for (let looks = 0; looks < FAREWELL_MS / LOOK_MS && !(hand.size === 0 && session.isQuiet); looks += 1)
    await pause(LOOK_MS, undefined);
  session.end('stopped');
  await closeSession(transport, session.workerId);
}

async function closeSession(transport: Transport, workerId: string): Promise<void> {
  await transport.json(endpointOf('closeWorker', { workerId }), { maxRetries: 0, timeoutMs: FAREWELL_MS });
}

/** By type and version; a type alone is its newest definition given. */
function indexed(nodes: readonly NodeDefinition[]): Map<string, NodeDefinition> {
  if (nodes.length === 0) throw new TypeError('serveNodes needs at least one node type.');
  const byName = new Map<string, NodeDefinition>();
  for (const node of nodes) {
    const name = `${node.typeId}@${node.version}`;
    if (byName.has(name)) throw new TypeError(`${node.typeId} ${node.version} is defined twice.`);
    byName.set(name, node);
    byName.set(node.typeId, node);
  }
  return byName;
}

function checked(name: string, value: number, min: number, max: number): number {
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new TypeError(`${name} must be a whole number from ${min} to ${max}, not ${String(value)}.`);
  return value;
}

function backoffMs(failures: number): number {
  return Math.min(50 * 2 ** Math.min(failures, 10), LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
}

/** No other attempt would end differently. */
function isFinal(error: unknown): boolean {
  if (error instanceof ConnectionError) return false;
  return !(error instanceof ApiError) || (error.status < 500 && error.status !== 408 && error.status !== 429);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const toStandardError: WorkerLog = (level, message) => {
  if (level === 'warn' || level === 'error') process.stderr.write(`weft worker: ${message}\n`);
};
