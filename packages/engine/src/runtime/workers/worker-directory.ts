import { toIso, type WorkerDocument } from '@weft/protocol';
import type { Clock } from '../../ports/clock.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { Documents } from '../../ports/store.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { ServedType, WorkerSession } from './worker-session.ts';

/**
 * Who serves what on which process: a document per process and tenant. It is written when the types or workers of a tenant change, a
 * few times a minute otherwise, and expires with a process that does not come back.
 */
export interface WorkerDirectory {
  /** The workers of this process for the tenant are others, or take tasks where they did not before. */
  changed(tenant: string): void;
  /** Another process serves it, as far as was last read. Asking makes it be read again soon. */
  isServedElsewhere(tenant: string, typeId: string, version: string): boolean;
  /** Reads what other processes say, unless that was done just now. True when it is something new. */
  refresh(tenant: string): Promise<boolean>;
  /** Workers on all processes. */
  list(tenant: string): Promise<readonly WorkerDocument[]>;
  start(): void;
  stop(): Promise<void>;
}

export interface DirectoryOptions {
  readonly store: Pick<Documents, 'listDocuments'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  readonly node: () => string;
  readonly sessions: () => Iterable<WorkerSession>;
  /** Between two reads. */
  readonly everyMs: number;
}

const COLLECTION = 'workers';
const WRITE_AFTER_MS = 100;
const WRITE_EVERY_MS = 20_000;
const KEPT_MS = 3 * WRITE_EVERY_MS;
const PAGE = 500;
/** Tenants of which it is remembered what other processes serve. */
const MOST_TENANTS = 1_000;

interface Entry {
  readonly served: readonly ServedType[];
  readonly workers: readonly WorkerDocument[];
}

interface Others {
  readonly readAt: number;
  readonly served: ReadonlySet<string>;
}

export function createWorkerDirectory(options: DirectoryOptions): WorkerDirectory {
  const { store, committer, clock, log } = options;
  const others = new Map<string, Others>();
  const reading = new Map<string, Promise<boolean>>();
  const dirty = new Set<string>();
  /** Tenants with a document of this process. */
  const written = new Set<string>();
  let soon: NodeJS.Timeout | undefined;
  let regularly: NodeJS.Timeout | undefined;
  let isStopped = false;

  function own(tenant: string): Entry {
    const sessions = [...options.sessions()].filter(({ about }) => about.tenant === tenant);
    const served = new Map<string, ServedType>();
    for (const { about, state } of sessions)
      if (state === 'active') for (const type of about.types) served.set(nameOf(type), type);
    return {
      served: [...served.values()],
      workers: sessions.map((session) => documentOf(session, options.node())),
    };
  }

  async function write(tenant: string, entry: Entry): Promise<void> {
    const at = clock.now();
    const isEmpty = entry.workers.length === 0;
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(options.random),
      tenant,
      collection: COLLECTION,
      scope: '',
      id: options.node(),
      at,
      expiresAt: at + KEPT_MS,
      ...(!isEmpty && { body: JSON.stringify(entry) }),
    });
    if (result.state !== 'committed') dirty.add(tenant);
    else if (isEmpty) written.delete(tenant);
    else written.add(tenant);
  }

  async function writeAll(): Promise<void> {
    const tenants = [...dirty];
    dirty.clear();
    for (const tenant of tenants) {
      const entry = own(tenant);
      if (entry.workers.length > 0 || written.has(tenant)) await write(tenant, entry);
    }
  }

  function writeSoon(): void {
    if (isStopped) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      writeAll().catch((error: unknown) =>
        log('warn', errorFields(error), 'the list of workers of other processes could not be read'),
      );
    }, WRITE_AFTER_MS);
    soon.unref();
  }

  async function read(tenant: string): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    let cursor: string | undefined;
    do {
      const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { rows, nextCursor } = await store.listDocuments(tenant, COLLECTION, '', page);
      for (const { id, body } of rows) if (id !== options.node()) entries.push(JSON.parse(body) as Entry);
      cursor = nextCursor;
    } while (cursor !== undefined);
    return entries;
  }

  async function readOthers(tenant: string): Promise<boolean> {
    const readAt = clock.monotonic();
    const before = others.get(tenant)?.served ?? new Set();
    const served = new Set((await read(tenant)).flatMap((entry) => entry.served.map(nameOf)));
    others.delete(tenant);
    others.set(tenant, { readAt, served });
    const [oldest] = others.keys();
    if (others.size > MOST_TENANTS && oldest !== undefined) others.delete(oldest);
    return served.size !== before.size || [...served].some((name) => !before.has(name));
  }

  function refresh(tenant: string): Promise<boolean> {
    const known = others.get(tenant);
    if (known !== undefined && clock.monotonic() - known.readAt < options.everyMs)
      return Promise.resolve(false);
    const underWay = reading.get(tenant);
    if (underWay !== undefined) return underWay;
    const started = readOthers(tenant)
      .catch((error: unknown) => {
        log('warn', errorFields(error), 'who serves what could not be read');
        return false;
      })
      .finally(() => reading.delete(tenant));
    reading.set(tenant, started);
    return started;
  }

  return {
    changed(tenant) {
      dirty.add(tenant);
      writeSoon();
    },
    isServedElsewhere(tenant, typeId, version) {
      void refresh(tenant);
      return others.get(tenant)?.served.has(nameOf({ typeId, version })) === true;
    },
    refresh,
    async list(tenant) {
      const elsewhere = (await read(tenant)).flatMap(({ workers }) => workers);
      return [...own(tenant).workers, ...elsewhere];
    },
    start() {
      regularly = setInterval(() => {
        for (const tenant of written) dirty.add(tenant);
        if (dirty.size > 0) writeSoon();
      }, WRITE_EVERY_MS);
      regularly.unref();
    },
    async stop() {
      isStopped = true;
      clearTimeout(soon);
      clearInterval(regularly);
      for (const tenant of written) dirty.add(tenant);
      await writeAll();
    },
  };
}

function nameOf({ typeId, version }: Pick<ServedType, 'typeId' | 'version'>): string {
  return `${typeId}@${version}`;
}

function documentOf(session: WorkerSession, node: string): WorkerDocument {
  const { workerId, name, connectedAt, types, sdk } = session.about;
  return {
    workerId,
    name,
    node,
    state: session.state,
    connectedAt: toIso(connectedAt),
    capacity: session.capacity,
    running: session.held.size,
    types: [...types],
    ...(sdk !== undefined && { sdk }),
  };
}
