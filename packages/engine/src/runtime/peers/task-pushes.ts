import { HostError, isName } from '@weft/protocol';
import type { Caller, NewTaskPush, TaskPush, TaskPushes } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentUnit, RunRow, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import type { ReceiverCheck } from '../egress/receiver.ts';
import { attachRow } from '../outbox/rows.ts';
import { type Sealing, toStored } from '../outbox/sealing.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import {
  countOpenPushes,
  isTask,
  listPushes,
  openPush,
  pushOwner,
  pushPlace,
  type PushSecrets,
  type StoredPush,
} from './stored-push.ts';

export interface TaskPushDependencies {
  readonly store: Pick<
    Store,
    'readRun' | 'readDocument' | 'listDocuments' | 'claimDueDocuments' | 'readBlob'
  >;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: Pick<HostLimits, 'maxTaskPushes' | 'maxTenantPushes'>;
  readonly checkReceiver: ReceiverCheck;
  readonly sealing?: Sealing | undefined;
  /** There is something in the outbox. */
  readonly wake: () => void;
}

const MAX_ID = 128;
const MAX_SECRET = 4_096;
const MAX_URL = 2_048;
/** What a header may carry. */
const VISIBLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;

/** The push notification configurations of tasks. What is sent, and when, is decided by `tell-task.ts`. */
export function createTaskPushes(dependencies: TaskPushDependencies): TaskPushes {
  const { store, committer, clock, random, limits, sealing } = dependencies;

  async function submit(unit: DocumentUnit): Promise<void> {
    const result = await committer.submit(unit);
    if (result.state !== 'committed') throw writeFailure(result);
    dependencies.wake();
  }

  async function write(caller: Caller, run: RunRow, push: NewTaskPush): Promise<TaskPush> {
    const { tenant, runId } = run.record;
    const pushId = push.pushId === '' ? runId : push.pushId;
    await checkRoom(run, pushId);
    const { url, version, authorization } = push;
    const secrets = secretsOf(push);
    const row: StoredPush = {
      pushId,
      url,
      version,
      ...(authorization !== undefined && { scheme: authorization.scheme }),
      ...(secrets !== undefined && {
        secrets: toStored(sealing, pushOwner(tenant, runId, pushId), JSON.stringify(secrets)),
      }),
    };
    const at = clock.now();
    await submit({
      kind: 'document',
      batchId: randomId(random),
      ...pushPlace(tenant, runId, pushId),
      body: JSON.stringify(row),
      at,
      documents: [openPush(run, pushId, at)],
      enqueue: [attachRow(run.record, pushId, at, randomId(random))],
      audit: [auditOf(caller, { at, action: 'task-push.set', target: runId, details: { pushId } })],
    });
    return shown(row);
  }

  async function checkRoom({ record: { tenant, runId } }: RunRow, pushId: string): Promise<void> {
    const known = await listPushes(store, tenant, runId, limits.maxTaskPushes);
    if (known.some((each) => each.pushId === pushId)) return;
    if (known.length >= limits.maxTaskPushes) throw full('task', limits.maxTaskPushes);
    const open = await countOpenPushes(store, tenant, limits.maxTenantPushes);
    if (open >= limits.maxTenantPushes) throw full('tenant', limits.maxTenantPushes);
  }

  function check({ pushId, url, token, authorization }: NewTaskPush): void {
    if (pushId !== '' && (!isName(pushId) || pushId.length > MAX_ID))
      throw invalid('id', `must be a name of at most ${MAX_ID} characters`);
    if (url.length > MAX_URL) throw invalid('url', `must have at most ${MAX_URL} characters`);
    const complaint = dependencies.checkReceiver(url);
    if (complaint !== undefined)
      throw new HostError('webhook_url_rejected', `url ${complaint}.`, { field: 'url' });
    if (token !== '' && !isSecret(token)) throw invalid('token', SECRET_RULE);
    if (authorization === undefined) return;
    if (!SCHEME.test(authorization.scheme))
      throw invalid('authentication.scheme', 'must be a word such as Bearer');
    if (!isSecret(authorization.credentials)) throw invalid('authentication.credentials', SECRET_RULE);
  }

  return {
    check: (_caller, push) => check(push),
    async set(caller, runId, push) {
      check(push);
      const run = await store.readRun(runId, caller.tenant);
      if (run === undefined) return undefined;
      if (!isTask(run.record))
        throw new HostError(
          'conflict',
          'No message has begun this run, so it is not told as a task; register a webhook for it.',
          { runId },
        );
      return await write(caller, run, push);
    },
    async list({ tenant }, runId) {
      if ((await store.readRun(runId, tenant)) === undefined) return undefined;
      return (await listPushes(store, tenant, runId, limits.maxTaskPushes)).map(shown);
    },
    async remove(caller, runId, pushId) {
      const run = await store.readRun(runId, caller.tenant);
      const place = pushPlace(caller.tenant, runId, pushId);
      if (run === undefined || (await store.readDocument(place)) === undefined) return false;
      const at = clock.now();
      await submit({
        kind: 'document',
        batchId: randomId(random),
        ...place,
        at,
        documents: [openPush(run, pushId, at, true)],
        audit: [auditOf(caller, { at, action: 'task-push.remove', target: runId, details: { pushId } })],
      });
      return true;
    },
  };
}

function shown({ pushId, url, scheme }: StoredPush): TaskPush {
  return { pushId, url, ...(scheme !== undefined && { scheme }) };
}

function secretsOf({ token, authorization }: NewTaskPush): PushSecrets | undefined {
  if (token === '' && authorization === undefined) return undefined;
  return {
    ...(token !== '' && { token }),
    ...(authorization !== undefined && {
      authorization: `${authorization.scheme} ${authorization.credentials}`,
    }),
  };
}

const SECRET_RULE = `must be 1 to ${MAX_SECRET} visible characters`;

function isSecret(text: string): boolean {
  return text.length <= MAX_SECRET && VISIBLE.test(text);
}

function invalid(field: string, rule: string): HostError {
  return new HostError('validation_error', `pushNotificationConfig.${field}: ${rule}`, { field });
}

function full(whose: string, limit: number): HostError {
  return new HostError(
    'conflict',
    `This ${whose} has ${limit} push notification configurations, which is the limit. Delete one that is not needed.`,
    { limit },
  );
}
