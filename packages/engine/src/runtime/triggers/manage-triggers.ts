import { HostError } from '@weft/protocol';
import { ExpressionError } from '../../core/compile/plan.ts';
import { sha256Hex } from '../../crypto/hash.ts';
import type {
  Caller,
  CreatedTrigger,
  NewTrigger,
  StateChange,
  Triggers,
  TriggerView,
} from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents, WorkflowRegistry } from '../../ports/store.ts';
import { toIso } from '@weft/protocol';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { CONTENDED, isWritten, untilWritten } from '../commits/contended-write.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { type Sealing, toStored } from '../outbox/sealing.ts';
import { newSigningSecret } from '../outbox/signing.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Mappings } from './mapping.ts';
import { isSendersSecret } from './schemes.ts';
import type { TenantCounter } from './tenant-counter.ts';
import {
  newTriggerWrites,
  readTrigger,
  type ReadTrigger,
  removalWrites,
  type Trigger,
  TRIGGERS,
  triggerPlace,
  triggerView,
} from './trigger-records.ts';

export interface TriggerDependencies {
  readonly store: Documents & WorkflowRegistry;
  readonly committer: Committer;
  readonly idempotency: Idempotency;
  readonly counter: TenantCounter;
  readonly deadLetters: DeadLetters;
  readonly mappings: Mappings;
  readonly sealing?: (Sealing & { digest(text: string): string }) | undefined;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

const KEPT_CHANGES = 20;
const SHORTEST_SECRET = 8;

/** Webhook triggers of a tenant: what people do with them. */
export function createManageTriggers(dependencies: TriggerDependencies): Omit<Triggers, 'ingest'> {
  const { store, committer, clock, random, counter, mappings } = dependencies;

  async function read({ tenant }: Caller, id: string): Promise<ReadTrigger | undefined> {
    const stored = await store.readDocument(triggerPlace(tenant, id));
    return stored && readTrigger(tenant, stored);
  }

  async function viewOf(tenant: string, trigger: Trigger): Promise<TriggerView> {
    return triggerView(trigger, await dependencies.deadLetters.isFull(tenant, `trigger:${trigger.id}`));
  }

  async function create(
    caller: Caller,
    request: NewTrigger,
    remember: Remember<TriggerView>,
  ): Promise<Exclude<CreatedTrigger, { replayed: true }>> {
    const { workflowId, scheme, secretId, inputMapping, dedupEnabled, retryPolicy } = request;
    if (inputMapping !== undefined) mappings.check(inputMapping);
    if ((await store.readWorkflow(caller.tenant, workflowId, undefined)) === undefined) {
      const message = 'No workflow has this id. Register it first, or correct workflowId.';
      throw new HostError('not_found', message, { field: 'workflowId' });
    }
    const id = `tr_${randomId(random)}`;
    const { secret, isNew } = secretFor(request, random);
    const at = clock.now();
    const trigger: Trigger = {
      id,
      workflowId,
      scheme,
      isPaused: false,
      ...(secretId !== undefined && { secretId }),
      ...(secret !== undefined && {
        secret: toStored(dependencies.sealing, { tenant: caller.tenant, id }, secret),
        secretFingerprint: fingerprint(id, secret),
      }),
      ...(inputMapping !== undefined && { inputMapping }),
      dedupEnabled,
      retryPolicy,
      createdAt: at,
      createdBy: caller.principal,
      changes: [],
    };
    const view = triggerView(trigger, false);
    const [record, owner] = newTriggerWrites(caller.tenant, trigger);
    return await counter.inTurn(caller.tenant, async () => {
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...record,
        documents: [owner, await counter.added(caller.tenant, at)],
        audit: [auditOf(caller, { at, action: 'trigger.create', target: id })],
        // A repeat shows everything but the secret.
        ...remember.answer(view),
      });
      if (!isWritten(result)) return CONTENDED;
      return { replayed: false as const, trigger: view, ...(isNew && secret !== undefined && { secret }) };
    });
  }

  /** Names a secret without being a way to try secrets: under the host's key, or under the id at least. */
  function fingerprint(id: string, secret: string): string {
    const text = `weft-trigger\n${id}\n${secret}`;
    return (dependencies.sealing?.digest(text) ?? sha256Hex(text)).slice(0, 16);
  }

  function setPaused(caller: Caller, id: string, isPaused: boolean): Promise<TriggerView | undefined> {
    return untilWritten(async () => {
      const found = await read(caller, id);
      if (found === undefined) return undefined;
      if (found.trigger.isPaused === isPaused) return await viewOf(caller.tenant, found.trigger);
      const at = clock.now();
      const trigger = withState(found.trigger, isPaused, at, caller.principal);
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...triggerPlace(caller.tenant, id),
        body: JSON.stringify(trigger),
        at: trigger.createdAt,
        replaces: found.version,
        audit: [auditOf(caller, { at, action: isPaused ? 'trigger.pause' : 'trigger.resume', target: id })],
      });
      return isWritten(result) ? await viewOf(caller.tenant, trigger) : CONTENDED;
    });
  }

  function remove(caller: Caller, id: string): Promise<boolean> {
    return counter.inTurn(caller.tenant, async () => {
      const found = await read(caller, id);
      if (found === undefined) return false;
      const { ownedBy } = found.trigger;
      if (ownedBy !== undefined) throw owned(ownedBy.workflowId);
      const at = clock.now();
      const [record, owner] = removalWrites(caller.tenant, id, at);
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...record,
        replaces: found.version,
        documents: [owner, await counter.removed(caller.tenant, at)],
        audit: [auditOf(caller, { at, action: 'trigger.remove', target: id })],
      });
      return isWritten(result) ? true : CONTENDED;
    });
  }

  return {
    create: (caller, request, claim) =>
      dependencies.idempotency.once(caller, claim, (remember) => create(caller, request, remember)),
    async list(caller, page) {
      const { rows, nextCursor } = await store.listDocuments(caller.tenant, TRIGGERS, '', page);
      const views: TriggerView[] = [];
      for (const row of rows)
        views.push(await viewOf(caller.tenant, readTrigger(caller.tenant, row).trigger));
      return { rows: views, ...(nextCursor !== undefined && { nextCursor }) };
    },
    async get(caller, id) {
      const found = await read(caller, id);
      return found && (await viewOf(caller.tenant, found.trigger));
    },
    pause: (caller, id) => setPaused(caller, id, true),
    resume: (caller, id) => setPaused(caller, id, false),
    remove,
    async test(caller, id, { body, headers }) {
      const found = await read(caller, id);
      if (found === undefined) return undefined;
      const { inputMapping } = found.trigger;
      const scope = { body, headers, deliveryId: 'test', receivedAt: toIso(clock.now()) };
      if (inputMapping === undefined) return { triggerData: scope };
      try {
        return mappings.apply(inputMapping, scope);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        throw new HostError('validation_error', error.message, { field: 'body' });
      }
    },
  };
}

function withState(trigger: Trigger, isPaused: boolean, at: number, by: string): Trigger {
  const change: StateChange = {
    at,
    from: isPaused ? 'active' : 'paused',
    to: isPaused ? 'paused' : 'active',
    reason: isPaused ? 'operator-paused' : 'operator-resumed',
    by,
  };
  return { ...trigger, isPaused, changes: [...trigger.changes, change].slice(-KEPT_CHANGES) };
}

function secretFor(
  { scheme, secret, secretId }: NewTrigger,
  random: RandomBytes,
): {
  readonly secret?: string;
  readonly isNew: boolean;
} {
  if (secret !== undefined && secretId !== undefined) {
    throw new HostError('validation_error', 'Give secret or secretId, not both.', { field: 'secretId' });
  }
  if (secretId !== undefined) return { isNew: false };
  if (secret !== undefined) {
    if (secret.length >= SHORTEST_SECRET) return { secret, isNew: false };
    const message = `secret must have at least ${SHORTEST_SECRET} characters.`;
    throw new HostError('validation_error', message, { field: 'secret', limit: SHORTEST_SECRET });
  }
  if (isSendersSecret(scheme)) {
    const message = `With ${scheme} the sender makes the signing secret. Copy it there, and give it as secret or secretId.`;
    throw new HostError('validation_error', message, { field: 'secret' });
  }
  return { secret: newSigningSecret(random), isNew: true };
}

function owned(workflowId: string): HostError {
  return new HostError(
    'conflict',
    `Workflow "${workflowId}" declares this trigger. Register a version without it, or pause it.`,
    { workflowId },
  );
}
