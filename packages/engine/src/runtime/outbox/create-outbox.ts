import type { Egress } from '../../model/node-type.ts';
import type { OutboxRow, Store } from '../../ports/store.ts';
import type { TaskPushes, Webhooks } from '../../host/host.ts';
import type { TaskPushFormat } from '../../ports/task-pushes.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Idempotency } from '../commits/idempotency.ts';
import { createReceiverCheck, type ReceiverCheck } from '../egress/receiver.ts';
import type { RandomBytes } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { linksAreOff } from '../interrupts/link-keys.ts';
import type { Log } from '../../ports/log.ts';
import { createWebhooks } from './webhooks.ts';
import { type CallbackDependencies, createCallbackRender } from './callback.ts';
import { createCallbackSecret } from './callback-secret.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createDeliver, type Deliver, type Render } from './delivery.ts';
import { createTaskPushes } from '../peers/task-pushes.ts';
import { createPushRender, createTellTask } from '../peers/tell-task.ts';
import type { RunStates } from '../runs/states.ts';
import {
  CALLBACK_TOPIC,
  createOutboxRows,
  type OutboxRows,
  PEER_TOPIC,
  PUSH_TOPIC,
  TASK_TOPIC,
} from './rows.ts';
import type { Sealing } from './sealing.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createWebhookRender } from './webhook.ts';
import { createOutboxWorker, type OutboxWorker } from './worker.ts';

export interface OutboxDependencies extends Pick<CallbackDependencies, 'links' | 'publicUrl'> {
  readonly store: Store;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly idempotency: Idempotency;
  readonly log: Log;
  readonly egress: Egress;
  readonly egressAllow: readonly string[];
  readonly sealing?: Sealing | undefined;
  readonly retryScaleForTests?: number | undefined;
  /** Version of the product, sent to receivers. */
  readonly version: string;
  /** Tells peers that a run which has ended wants nothing of them; absent where there are none. */
  readonly cancelTasks?: Deliver | undefined;
  /** How tasks are pushed to agents of other hosts; absent where they are not. */
  readonly taskPushes?: TaskPushFormat | undefined;
  readonly states: Pick<RunStates, 'upTo'>;
  /** Asked late: the readers that provide it need the rest of the host. */
  readonly withState: CallbackDependencies['withState'];
}

export interface Outbox {
  /** What the writes of runs carry along. */
  readonly rows: OutboxRows;
  /** Passes writes on, and wakes the worker when one has brought it work. */
  readonly committer: Committer;
  readonly webhooks: Webhooks;
  /** Absent where tasks are not told. */
  readonly taskPushes: TaskPushes | undefined;
  /** Why callbacks may not go there, as the second half of a sentence; undefined when they may. */
  readonly checkCallbackUrl: ReceiverCheck;
  readonly counts: OutboxWorker['counts'];
  /** Before the first run is advanced: no event may pass before the webhooks are known. */
  start(): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

/** Everything that leaves the host because of a committed event: callbacks, webhooks, and what became of them. */
export function createOutbox(dependencies: OutboxDependencies): Outbox {
  const { store, committer, clock, limits, log, sealing, cancelTasks, taskPushes } = dependencies;
  const checkReceiver = createReceiverCheck(dependencies.egressAllow);
  const subscriptions = createSubscriptions({ store, everyMs: limits.webhookRefreshMs, log });
  const callbackSecret = createCallbackSecret(dependencies);
  const deadLetters = createDeadLetters({ ...dependencies, wake: () => worker.wake() });

  const renderCallback = createCallbackRender({
    ...dependencies,
    signingSecret: callbackSecret,
  });
  const renderWebhook = createWebhookRender({ store, sealing });
  const telling = taskPushes && { ...dependencies, format: taskPushes, signingSecret: callbackSecret };
  const renderPush = telling && createPushRender(telling);
  const renderOf = ({ topic }: OutboxRow): Render => {
    if (renderPush !== undefined && topic.startsWith(PUSH_TOPIC)) return renderPush;
    return topic.startsWith(CALLBACK_TOPIC) ? renderCallback : renderWebhook;
  };
  const send = createDeliver(
    {
      egress: dependencies.egress,
      refusalOf: checkReceiver,
      now: clock.now,
      userAgent: `openwop-webhook-dispatcher/${dependencies.version}`,
    },
    (row) => renderOf(row)(row),
  );
  const tellTask = telling && createTellTask(telling);
  const delivers = ({ topic }: OutboxRow): Deliver => {
    if (cancelTasks !== undefined && topic === PEER_TOPIC) return cancelTasks;
    return tellTask !== undefined && topic.startsWith(TASK_TOPIC) ? tellTask : send;
  };
  const worker = createOutboxWorker({
    ...dependencies,
    deliver: (row, ...means) => delivers(row)(row, ...means),
    deadLetter: deadLetters.letterFor,
    retryScale: dependencies.retryScaleForTests,
  });
  const { deadDeliveries, replay } = deadLetters;

  return {
    rows: createOutboxRows({
      subscriptions,
      hasPeers: cancelTasks !== undefined,
      tellsTasks: taskPushes !== undefined,
    }),
    committer: waking(committer, worker.wake),
    webhooks: {
      ...createWebhooks({ ...dependencies, subscriptions, checkReceiver, callbackSecret }),
      deadDeliveries,
      replay,
    },
    taskPushes: taskPushes && createTaskPushes({ ...dependencies, checkReceiver, wake: worker.wake }),
    checkCallbackUrl(url) {
      if (!dependencies.links.areOn) throw linksAreOff();
      return checkReceiver(url);
    },
    counts: worker.counts,
    async start() {
      await subscriptions.refresh();
      subscriptions.start();
      worker.start();
    },
    async stop(graceMs) {
      subscriptions.stop();
      await worker.stop(graceMs);
    },
  };
}

function waking(committer: Committer, wake: () => void): Committer {
  return {
    ...committer,
    submit(unit) {
      const written = committer.submit(unit);
      if (unit.kind !== 'run' || unit.outbox === undefined) return written;
      return written.then((result) => {
        if (result.state === 'committed') wake();
        return result;
      });
    },
  };
}
