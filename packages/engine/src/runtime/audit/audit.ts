import { createPublicKey, type KeyObject } from 'node:crypto';
import { type AuditCheckpoint, makeCheckpoint } from '../../core/audit/checkpoint.ts';
import { BATCH_ENTRIES, GENESIS, type ChainTip, linkEntries, tipAfter } from '../../core/audit/link-batch.ts';
import { publicKeyText } from '../../crypto/ed25519.ts';
import type { Audit } from '../../host/host.ts';
import type { Store } from '../../ports/store.ts';
import { type AuditAnchor, AuditAnchorError, createAnchorKeeper } from './audit-anchor.ts';
import { createAuditExport } from './audit-export.ts';
import { type AuditCollection, CHECKPOINTS, createAuditLog, LINKS } from './audit-log.ts';
import { createAuditVerify } from './audit-verify.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer, CommitResult } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * Entries are written with the acts they record, unchained, so no act waits for another. One pass after the other takes the
 * entries that have no link yet, links them in a batch, and signs a checkpoint when one is due. An entry without a link is
 * pending; that lasts half a second.
 *
 * U-4. Batch n is written only where there is no batch n. Of two processes that link the same entries one is rejected, reads
 *      what the other wrote and continues from there; so an entry is linked once, and the chain has one end.
 * U-5. A batch is one document: a process that dies has written all of it or nothing, and the next one continues from the
 *      last.
 * U-6. A checkpoint is signed only for a chain that is durable, and covers more than the one before it.
 * U-7. At most `checkpointEntries` entries lie between two checkpoints; beyond that, linking waits for the checkpoint.
 * U-8. A chain that does not hold the last seal this process knows is not continued: signing it would make it look complete.
 */
export interface AuditChain {
  /** Links what an earlier process has left, and from then on what is new. Throws AuditAnchorError when the log is not the anchored one. */
  start(): Promise<void>;
  /** Links what is pending and signs a last checkpoint, as far as the time allows; the rest stays pending for the next start. */
  stop(graceMs: number): Promise<void>;
  /** Links everything that is pending now. */
  link(): Promise<void>;
  /** What discovery says; undefined without a key. */
  readonly integrity: AuditIntegrity | undefined;
  readonly operations: Audit;
}

export interface AuditIntegrity {
  readonly hashChain: true;
  readonly checkpointSignatureAlgorithm: 'ed25519';
  readonly checkpointPublicKey: string;
  readonly checkpointIntervalEntries: number;
  readonly checkpointIntervalSeconds: number;
}

export interface AuditDependencies {
  readonly store: Store;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Ed25519, used for nothing else. Without it there are links and no checkpoints. */
  readonly key?: KeyObject | undefined;
  /** Keeps the last seal outside the store; only with a key. */
  readonly anchor?: AuditAnchor | undefined;
  readonly checkpointEntries?: number;
  readonly checkpointMs?: number;
}

const EVERY_MS = 500;
const CHECKPOINT_ENTRIES = 1_000;
const CHECKPOINT_MS = 300_000;
/** How long the end of the chain is believed; what others have written, or taken away, is noticed then. */
const BELIEVED_MS = 30_000;

export function createAudit(dependencies: AuditDependencies): AuditChain {
  const { store, committer, clock, random, log, key } = dependencies;
  const checkpointEntries = dependencies.checkpointEntries ?? CHECKPOINT_ENTRIES;
  const checkpointMs = dependencies.checkpointMs ?? CHECKPOINT_MS;
  const auditLog = createAuditLog(store);
  const publicKey = key && createPublicKey(key);
  const keeper = createAnchorKeeper({ auditLog, publicKey, anchor: dependencies.anchor, log });
  const integrity = key && integrityOf(key, checkpointEntries, checkpointMs);

  /** What this process believes the end of the chain to be; undefined: it must read it. */
  let end: { readonly tip: ChainTip; readonly checkpoint: AuditCheckpoint | undefined } | undefined;
  let readAt = 0;
  /** The first entries after a start are not left without a checkpoint for minutes. */
  let isFirstDue = true;
  /** What another process had written already, when this one tried. */
  let refused: string | undefined;
  let isTroubled = false;
  let deadline = Number.POSITIVE_INFINITY;
  let passing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function readEnd(): Promise<NonNullable<typeof end>> {
    const [lastBatch, lastCheckpoint] = [await auditLog.last(LINKS), await auditLog.last(CHECKPOINTS)];
    const batch = lastBatch < 0 ? undefined : await auditLog.batch(lastBatch);
    const checkpoint = lastCheckpoint < 0 ? undefined : await auditLog.checkpoint(lastCheckpoint);
    const tip = batch === undefined ? GENESIS : tipAfter(batch);
    await keeper.check(tip);
    if ((lastBatch >= 0 && !batch) || (lastCheckpoint >= 0 && !checkpoint)) {
      throw new Error('the end of the audit chain cannot be read');
    }
    keeper.note(checkpoint);
    readAt = clock.monotonic();
    return { tip, checkpoint };
  }

  async function write(collection: AuditCollection, number: number, body: object): Promise<CommitResult> {
    const name = `${collection}/${number}`;
    if (name === refused) throw new Error(`${name} exists, but the chain seems to end before it`);
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      tenant: HOST_TENANT,
      collection,
      scope: '',
      id: String(number),
      // Lists are ordered by it; a clock that steps back must not change which is the newest.
      at: number,
      body: JSON.stringify(body),
      onlyNew: true,
    });
    if (result.state === 'refused' && result.reason === 'document_exists') refused = name;
    return result;
  }

  /** True when something was written; then there may be more to do. */
  async function step(isLast: boolean): Promise<boolean> {
    end ??= await readEnd();
    const { tip, checkpoint } = end;
    const uncovered = tip.frontier.size - 1 - (checkpoint?.atSequence ?? -1);
    if (key !== undefined && uncovered >= checkpointEntries) return sign(key, tip, checkpoint);
    const room = key === undefined ? BATCH_ENTRIES : checkpointEntries - uncovered;
    const entries = await store.readAudit(tip.lastId + 1, Math.min(BATCH_ENTRIES, room));
    if (entries.length > 0) {
      const batch = linkEntries(tip, entries);
      return settled(await write(LINKS, batch.batch, batch), { tip: tipAfter(batch), checkpoint });
    }
    const isDue = isFirstDue || isLast || isOld(checkpoint, clock.now(), checkpointMs);
    if (key === undefined || uncovered <= 0 || !isDue) return false;
    return sign(key, tip, checkpoint);
  }

  async function sign(
    privateKey: KeyObject,
    tip: ChainTip,
    before: AuditCheckpoint | undefined,
  ): Promise<boolean> {
    const checkpoint = makeCheckpoint(before, tip.frontier, clock.now(), privateKey);
    isFirstDue = false;
    const result = await write(CHECKPOINTS, checkpoint.number, checkpoint);
    if (result.state === 'committed') keeper.note(checkpoint);
    return settled(result, { tip, checkpoint });
  }

  function settled(result: CommitResult, next: NonNullable<typeof end>): boolean {
    // Whatever else happened, the store knows better than this process where the chain ends.
    end = result.state === 'committed' ? next : undefined;
    if (result.state === 'committed') isTroubled = false;
    if (result.state === 'committed') return true;
    if (result.state === 'refused' && result.reason === 'document_exists') return true;
    trouble({ outcome: result.state });
    return false;
  }

  /** Said once until it works again: a pass comes twice a second. */
  function trouble(fields: Parameters<Log>[1]): void {
    if (!isTroubled) log('error', fields, 'audit entries could not be linked; they stay pending');
    isTroubled = true;
  }

  async function pass(isLast: boolean): Promise<void> {
    refused = undefined;
    if (clock.monotonic() - readAt > BELIEVED_MS) end = undefined;
    try {
      while ((await step(isLast)) && clock.monotonic() < deadline);
    } catch (error) {
      end = undefined;
      trouble(errorFields(error));
    }
    await keeper.save();
  }

  /** A host that was stopped leaves nothing pending. So either it was killed, or someone else has written entries. */
  async function noteLeftovers(): Promise<void> {
    try {
      end = await readEnd();
      const [left] = await store.readAudit(end.tip.lastId + 1, 1);
      if (left === undefined) return;
      log(
        'warn',
        { fromId: left.id },
        'audit entries were pending at the start: a host was killed, another one is at work, or they are not its own',
      );
    } catch (error) {
      if (error instanceof AuditAnchorError) throw error;
      log('error', errorFields(error), 'the end of the audit chain cannot be read');
    }
  }

  /** One pass at a time. Who asks during a pass gets another one, which sees what was written before the question. */
  async function link(isLast = false): Promise<void> {
    while (passing !== undefined) await passing;
    passing = pass(isLast).finally(() => {
      passing = undefined;
    });
    await passing;
  }

  return {
    integrity,
    link: () => link(),
    async start() {
      await keeper.load();
      await noteLeftovers();
      timer = setInterval(() => {
        if (passing === undefined) void link();
      }, EVERY_MS);
      timer.unref();
      void link();
    },
    async stop(graceMs) {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      deadline = clock.monotonic() + graceMs;
      await link(true);
    },
    operations: {
      async record(entry) {
        const audit = [{ ...entry, at: clock.now() }];
        const result = await committer.submit({ kind: 'audit', batchId: randomId(random), audit });
        if (result.state !== 'committed') throw writeFailure(result);
      },
      verify: createAuditVerify(auditLog, keeper, publicKey),
      export: createAuditExport(auditLog, publicKey),
    },
  };
}

function isOld(checkpoint: AuditCheckpoint | undefined, now: number, keptMs: number): boolean {
  if (checkpoint === undefined) return true;
  const age = now - checkpoint.ts;
  return age >= keptMs || age < 0;
}

function integrityOf(key: KeyObject, checkpointEntries: number, checkpointMs: number): AuditIntegrity {
  return {
    hashChain: true,
    checkpointSignatureAlgorithm: 'ed25519',
    checkpointPublicKey: publicKeyText(key),
    checkpointIntervalEntries: checkpointEntries,
    checkpointIntervalSeconds: Math.ceil(checkpointMs / 1_000),
  };
}
