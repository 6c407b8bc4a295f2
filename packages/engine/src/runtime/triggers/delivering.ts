import { isHostError, type Json, type JsonObject, toIso } from '@weft/protocol';
import { ExpressionError } from '../../core/compile/plan.ts';
import { sha256Hex } from '../../crypto/hash.ts';
import type { Caller, DeadLetter, IngestAnswer } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentPlace, DocumentWrite, IdempotencyRecord, Store } from '../../ports/store.ts';
import type { Committer, CommitResult } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import type { PreparedRun, RunCreator } from '../runs/create-run.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { DELIVERY_SCOPE, DUE } from '../schedules/schedule-place.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Mappings } from './mapping.ts';
import type { ReadTrigger, Trigger } from './trigger-records.ts';

/**
 * What becomes of a delivery that is known to be genuine.
 *
 * D-11. The id of a delivery commits with the run that it starts, so that it starts one, however often and wherever it arrives. So does its
 *       signature where the id is not signed, for as long as that is valid: under another id it starts none either.
 * D-12. A verified delivery starts a run, or is kept: to be tried again, or as a dead letter with the reason.
 */
export interface Delivering {
  deliver(found: ReadTrigger, attempt: Attempt): Promise<IngestAnswer>;
  /** To be tried again while it may pass, then as a dead letter. */
  keep(found: ReadTrigger, attempt: Attempt, obstacle: Obstacle): Promise<IngestAnswer>;
  /** The run that it starts. Throws what `obstacleOf` explains. */
  prepare(found: ReadTrigger, attempt: Pick<Attempt, 'kept' | 'attempt'>): Promise<PreparedRun>;
  /** What was answered when this delivery came before. */
  seenBefore(found: ReadTrigger, deliveryId: string): Promise<IngestAnswer | undefined>;
}

export interface DeliveringDependencies {
  readonly store: Pick<Store, 'readIdempotency'>;
  readonly committer: Committer;
  readonly creator: Pick<RunCreator, 'prepare'>;
  readonly deadLetters: DeadLetters;
  readonly mappings: Mappings;
  readonly newRunId: () => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  /** A delivery waits to be tried again. */
  readonly wake: (at: number) => void;
}

/** What is kept of a delivery that started nothing: enough to start it later. */
export interface Kept {
  readonly deliveryId?: string;
  readonly headers: JsonObject;
  readonly content: Json;
  readonly receivedAt: number;
}

export interface Attempt {
  readonly kept: Kept;
  readonly attempt: number;
  readonly bytes: number;
  /** Where it covers more than the id does. Only of one that has just arrived. */
  readonly signature?: string | undefined;
  /** Of the document that it was kept in. */
  readonly from?: { readonly id: string; readonly version: string };
}

/** Why a delivery starts no run. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
  /** It may pass. */
  readonly isPassing: boolean;
}

export const UNREADABLE: Kept = { headers: {}, content: null, receivedAt: 0 };

export function createDelivering(dependencies: DeliveringDependencies): Delivering {
  const { store, committer, deadLetters, clock, random, limits } = dependencies;

  async function seenBefore(
    { tenant, trigger }: ReadTrigger,
    deliveryId: string,
  ): Promise<IngestAnswer | undefined> {
    const record = await store.readIdempotency(tenant, operationOf(trigger), sha256Hex(deliveryId));
    return record && duplicateOf(record);
  }

  /** D-11, D-12. */
  async function deliver(found: ReadTrigger, attempt: Attempt): Promise<IngestAnswer> {
    let run: PreparedRun;
    try {
      run = await prepare(found, attempt);
    } catch (error) {
      return await keep(found, attempt, obstacleOf(error));
    }
    const result = await run.commit({
      ...remembered(found, attempt, { runId: run.runId }),
      documents: [...removalOf(found, attempt), ...signatureWrite(found, attempt)],
    });
    if (result.state === 'committed') return { outcome: 'started', runId: run.runId };
    return answerTo(result);
  }

  function prepare(
    { tenant, trigger }: ReadTrigger,
    { kept, attempt }: Pick<Attempt, 'kept' | 'attempt'>,
  ): Promise<PreparedRun> {
    const { deliveryId, headers, content, receivedAt } = kept;
    const named = deliveryId ?? randomId(random);
    const dedupKey = sha256Hex(`weft-delivery\n${tenant}\n${trigger.id}\n${named}`).slice(0, 32);
    const scope = { body: content, headers, deliveryId: `dlv_${dedupKey}`, receivedAt: toIso(receivedAt) };
    const inputs =
      trigger.inputMapping === undefined
        ? { triggerData: triggerData(trigger, scope, dedupKey) }
        : dependencies.mappings.apply(trigger.inputMapping, scope);
    const source = {
      kind: 'trigger' as const,
      id: trigger.id,
      deliveryId: scope.deliveryId,
      dedupKey,
      attempt,
    };
    return dependencies.creator.prepare(
      triggerCaller(tenant, trigger),
      {
        workflowId: trigger.workflowId,
        inputs,
        configurable: {},
        tags: [],
        metadata: {},
        exclusiveScope: false,
      },
      { runId: dependencies.newRunId(), source },
    );
  }

  /** To be tried again while it may pass, then as a dead letter. */
  async function keep(found: ReadTrigger, attempt: Attempt, obstacle: Obstacle): Promise<IngestAnswer> {
    const { tenant, trigger } = found;
    const isAgain = obstacle.isPassing && attempt.attempt < trigger.retryPolicy.maxAttempts;
    const now = clock.now();
    const id = attempt.from?.id ?? randomId(random);
    const dueAt = now + backoffOf(trigger, attempt.attempt);
    const documents = isAgain
      ? [retryWrite(tenant, { ...attempt, triggerId: trigger.id }, { id, at: now, dueAt })]
      : [
          ...(await deadLetters.write(
            tenant,
            letterOf(trigger, attempt, obstacle, { id, now }),
            contentKept(attempt.kept),
          )),
          ...removalOf(found, attempt),
        ];
    const answer = isAgain ? { retrying: true } : { deadLetterId: id };
    const result = await committer.submit({
      kind: 'audit',
      batchId: randomId(random),
      documents: [...documents, ...signatureWrite(found, attempt)],
      audit: [
        {
          at: now,
          tenant,
          actor: `trigger:${trigger.id}`,
          action: 'delivery.kept',
          target: id,
          details: { reason: obstacle.reason, isAgain },
        },
      ],
      ...remembered(found, attempt, answer),
    });
    if (result.state !== 'committed') return answerTo(result);
    if (!isAgain) return { outcome: 'dead-lettered', deadLetterId: id, reason: obstacle.reason };
    dependencies.wake(dueAt);
    return { outcome: 'retrying' };
  }

  /** Only a first attempt is remembered: later ones are about a delivery that is known. */
  function remembered(
    { tenant, trigger }: ReadTrigger,
    { kept: { deliveryId }, from }: Attempt,
    answer: JsonObject,
  ): { idempotency?: IdempotencyRecord } {
    if (deliveryId === undefined || from !== undefined) return {};
    const expiresAt = clock.now() + limits.deliveryIdsKeptMs;
    const keyHash = sha256Hex(deliveryId);
    const response = { status: 200, body: JSON.stringify(answer) };
    return {
      idempotency: {
        tenant,
        operation: operationOf(trigger),
        keyHash,
        requestDigest: keyHash,
        expiresAt,
        response,
      },
    };
  }

  /** Twice as long as a signed time may be off: it may lie ahead. */
  function signatureWrite({ tenant, trigger }: ReadTrigger, { signature }: Attempt): DocumentWrite[] {
    if (signature === undefined) return [];
    const at = clock.now();
    const place = { tenant, collection: SIGNATURES, scope: trigger.id, id: sha256Hex(signature) };
    return [{ ...place, body: '1', at, expiresAt: at + 2 * limits.deliveryToleranceMs, onlyNew: true }];
  }

  return { deliver, keep, prepare, seenBefore };
}

const SIGNATURES = 'delivery-signature';
const CONFLICTS: ReadonlySet<string> = new Set(['document_changed', 'document_exists']);

/** What was not written, because another process was faster or the store is away. */
function answerTo(result: Exclude<CommitResult, { state: 'committed' }>): IngestAnswer {
  if (result.state === 'refused' && result.reason === 'idempotency_exists') return duplicateOf(result.record);
  const isKnown = result.state === 'refused' && CONFLICTS.has(result.reason);
  if (isKnown) return { outcome: 'duplicate' };
  throw writeFailure(result);
}

function duplicateOf({ response }: IdempotencyRecord): IngestAnswer {
  const answer = 'body' in response ? (JSON.parse(response.body) as { runId?: string }) : {};
  return { outcome: 'duplicate', ...(answer.runId !== undefined && { runId: answer.runId }) };
}

function operationOf({ id }: Trigger): string {
  return `ingest ${id}`;
}

export function obstacleOf(error: unknown): Obstacle {
  if (error instanceof ExpressionError)
    return { reason: 'mapping_failed', message: error.message, isPassing: false };
  if (!isHostError(error) || error.code === 'service_unavailable') throw error;
  return { reason: error.code, message: error.message, isPassing: error.code === 'not_found' };
}

function letterOf(
  { id: triggerId }: Trigger,
  { kept: { deliveryId }, attempt, bytes }: Attempt,
  { reason, message }: Obstacle,
  { id, now }: { readonly id: string; readonly now: number },
): DeadLetter {
  const source = `trigger:${triggerId}`;
  return {
    id,
    source,
    reason,
    message,
    at: now,
    attempts: attempt,
    bytes,
    ...(deliveryId !== undefined && { deliveryId }),
  };
}

/** Absent when nothing could be read. */
function contentKept(kept: Kept): JsonObject | undefined {
  return kept.content === null ? undefined : { kept: { ...kept } };
}

export function retryPlace(tenant: string, id: string): DocumentPlace {
  return { tenant, collection: DUE, scope: DELIVERY_SCOPE, id };
}

function retryWrite(
  tenant: string,
  { from, signature: _signature, ...kept }: Attempt & { readonly triggerId: string },
  { id, at, dueAt }: { readonly id: string; readonly at: number; readonly dueAt: number },
): DocumentWrite {
  const body = JSON.stringify(kept);
  return {
    ...retryPlace(tenant, id),
    body,
    at,
    dueAt,
    ...(from === undefined ? { onlyNew: true } : { replaces: from.version }),
  };
}

function removalOf({ tenant }: ReadTrigger, { from }: Attempt): DocumentWrite[] {
  return from === undefined ? [] : [{ ...retryPlace(tenant, from.id), at: 0, replaces: from.version }];
}

const BACKOFF_MS = { none: 1_000, fixed: 60_000, exponential: 10_000 };
const LONGEST_BACKOFF_MS = 60 * 60 * 1_000;

function backoffOf({ retryPolicy: { backoff } }: Trigger, attempt: number): number {
  const factor = backoff === 'exponential' ? 4 ** (attempt - 1) : 1;
  return Math.min(BACKOFF_MS[backoff] * factor, LONGEST_BACKOFF_MS);
}

/** The protocol's TriggerEvent. */
function triggerData(
  { id }: Trigger,
  {
    body,
    headers,
    deliveryId,
    receivedAt,
  }: {
    readonly body: Json;
    readonly headers: JsonObject;
    readonly deliveryId: string;
    readonly receivedAt: string;
  },
  dedupKey: string,
): JsonObject {
  return {
    source: 'webhook',
    subscriptionId: id,
    deliveryId,
    dedupKey,
    receivedAt,
    verified: true,
    contentTrust: 'untrusted',
    webhook: { method: 'POST', headers, body },
  };
}

/** A trigger acts for its creator. */
function triggerCaller(tenant: string, { createdBy, id }: Trigger): Caller {
  return {
    tenant,
    principal: createdBy,
    keyId: `trigger:${id}`,
    kind: 'service',
    test: false,
    scopes: new Set(),
  };
}
