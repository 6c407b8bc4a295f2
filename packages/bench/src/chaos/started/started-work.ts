import type { Cluster } from '../faults/cluster.ts';
import type { Random } from '../random.ts';
import { type HttpClient, httpClient } from '../workload/http.ts';
import { demand } from '../workload/prepare.ts';
import type { Receipts } from '../workload/receipts.ts';
import { type DeliveredWork, openDeliveredWork } from './delivered-work.ts';
import type { HoldService } from './hold-service.ts';
import {
  backfillAll,
  createSchedule,
  operateSchedules,
  planSchedules,
  untilEnded,
  type Watched,
  watchedOf,
  watchSchedules,
} from './scheduled-work.ts';
import type { ManualStart, ScheduleRequest, SeenSchedule, StartedHistory } from './started-history.ts';
import { deliveredWorkflow, heldWorkflow } from './started-workflows.ts';

/** Runs that start by themselves: schedules that become due and deliveries that arrive while things go wrong. */
export interface StartedWork {
  /** Senders, an observer and an operator, until the signal. */
  run(signal: AbortSignal): Promise<void>;
  /** Waits for what is due, sends once more what may be lost, and says what was left. */
  finish(): Promise<StartedHistory>;
}

export interface StartedWorkOptions {
  readonly cluster: Cluster;
  readonly receipts: Receipts;
  readonly random: Random;
  readonly servicePort: number;
  readonly holds: HoldService;
  readonly durationMs: number;
  readonly note: (line: string) => void;
}

const SENDERS = 3;
const WORKFLOWS = '/v1/host/weft/workflows';

export async function openStartedWork(options: StartedWorkOptions): Promise<StartedWork> {
  const { cluster, receipts, random, servicePort, holds, note } = options;
  const places = random.fork('places');
  const url = (): string => `http://127.0.0.1:${cluster.port(places.int(0, cluster.places - 1))}`;
  const http = httpClient(url, cluster.apiKey, receipts);
  const requests = planSchedules(Date.now(), options.durationMs);
  for (const { name, holdMs } of requests)
    await demand(http, WORKFLOWS, heldWorkflow(name, holdMs, holds.port));
  await demand(http, WORKFLOWS, deliveredWorkflow(servicePort));
  for (const request of requests) await createSchedule(http, request);
  const delivered = await openDeliveredWork(http, url, receipts);
  const watched = requests.map(watchedOf);
  const manual: ManualStart[] = [];
  const backfilled = requests.find(({ overlap }) => overlap === 'allow') as ScheduleRequest;
  return {
    async run(signal) {
      await Promise.all([
        watchSchedules(http, watched, signal),
        operateSchedules({
          ...{ http, receipts, backfilled, manual, signal },
          random: random.fork('operator'),
        }),
        ...Array.from({ length: SENDERS }, (_, index) =>
          delivered.send(`sender-${index}`, random.fork(`sender ${index}`), signal),
        ),
      ]);
    },
    async finish() {
      if (!(await untilEnded(http, watched))) note('not every schedule has come to its end');
      await backfillAll(http, backfilled);
      if (!(await untilEnded(http, watched))) note('the last backfill has not come to its end');
      await delivered.repeat(random.fork('repeats'));
      const letters = await lettersOf(http, delivered);
      const { triggers, forged } = delivered;
      const schedules = watched.map(seenOf);
      return {
        schedules,
        holds: holds.seen,
        manual,
        triggers,
        forged,
        letters,
        deliveries: delivered.deliveries(),
      };
    },
  };
}

async function lettersOf(http: HttpClient, { triggers }: DeliveredWork): Promise<string[]> {
  const letters: string[] = [];
  for (const id of triggers) {
    const path = `/v1/host/weft/dead-letters?source=${encodeURIComponent(`trigger:${id}`)}&limit=500`;
    const answer = await http.askUntilAnswered('GET', path);
    const found = (answer?.json['deadLetters'] ?? []) as { id: string }[];
    letters.push(...found.map((letter) => letter.id));
  }
  return letters;
}

const UNSEEN = { state: 'unknown', openRuns: 0, queued: 0, started: 0, skipped: 0, deadLettered: 0 };

function seenOf({ request, firings, last = UNSEEN }: Watched): SeenSchedule {
  return { ...request, firings: [...firings.values()], last };
}
