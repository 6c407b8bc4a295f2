import { setTimeout as pause } from 'node:timers/promises';
import { CLOSING_TAG } from './operator-actions.ts';
import { runInterruptResponder } from './interrupt-responder.ts';
import type { CallbackResponder } from './callback-responder.ts';
import { missingDeliveries } from '../checking/check-deliveries.ts';
import { runClient } from './client.ts';
import { type Cluster, WEBHOOK_REFRESH_MS } from '../faults/cluster.ts';
import { collectRuns, listQuarantined, probeGone, settle } from '../checking/collect.ts';
import type { EventDocument, History } from '../checking/history.ts';
import { type HttpClient, httpClient } from './http.ts';
import { runDeadLetterReplayer } from './dead-letter-replayer.ts';
import type { Prepared } from './prepare.ts';
import type { Random } from '../random.ts';
import type { StartedWork } from '../started/started-work.ts';
import type { Receipts } from './receipts.ts';
import { CALLBACK_PATH, type Receiver } from './webhook-receiver.ts';
import { runHostileTenant } from './hostile-tenant.ts';
import { runOperator } from './operator.ts';
import type { ChaosWorkflows } from './workflows.ts';

/** All clients of the cluster, from the first fault to the last delivery. */
export interface Workload {
  readonly cluster: Cluster;
  readonly workflows: ChaosWorkflows;
  readonly receipts: Receipts;
  readonly random: Random;
  readonly receiver: Receiver;
  readonly prepared: Prepared;
  readonly callbacks: CallbackResponder;
  readonly started: StartedWork;
  /** Where the hostile tenant has its server. */
  readonly hostileUrl: string;
  readonly note: (line: string) => void;
  readonly faults: () => Promise<void>;
}

const CLIENTS = 6;
const OPERATORS = 3;
const RESPONDERS = 2;
const CLOSING_RUNS = 6;
/** Five processes for each crashing run, one after the other, each found dead only after its deadline. */
const QUARANTINE_WITHIN_MS = 120_000;
const SETTLE_WITHIN_MS = 60_000;
/** When others do not end anyway. */
const CLOSE_WITHIN_MS = 5_000;
/** Longer than the lease on a delivery that a killed process has left behind. */
const DELIVER_WITHIN_MS = 40_000;

type Left = Pick<History, 'runs' | 'probes' | 'quarantined' | 'started'>;

export async function workUnderFaults(workload: Workload): Promise<Left> {
  const { cluster, workflows, receipts, random, note, receiver, prepared, callbacks } = workload;
  const { receiverUrl } = prepared;
  const [working, answering] = [new AbortController(), new AbortController()];
  const connection = (name: string, apiKey = cluster.apiKey): HttpClient => {
    const drawn = random.fork(`place of ${name}`);
    const url = (): string => `http://127.0.0.1:${cluster.port(drawn.int(0, cluster.places - 1))}`;
    return httpClient(url, apiKey, receipts);
  };
  callbacks.open(connection('callback responder'), receipts);
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    runClient({
      name: `client-${index}`,
      http: connection(`client ${index}`),
      random: random.fork(`client ${index}`),
      workflows: workflows.roots,
      callbackWorkflows: workflows.callbackWorkflows,
      callbackUrl: `${receiverUrl}${CALLBACK_PATH}`,
      receipts,
      signal: working.signal,
    }),
  );
  const operators = Array.from({ length: OPERATORS }, (_, index) =>
    runOperator({
      name: `operator-${index}`,
      http: connection(`operator ${index}`),
      guest: connection(`guest ${index}`, prepared.guestKey),
      random: random.fork(`operator ${index}`),
      ...{ receiverUrl, receipts, signal: working.signal },
    }),
  );
  const responders = Array.from({ length: RESPONDERS }, (_, index) =>
    runInterruptResponder({
      name: `responder-${index}`,
      http: connection(`responder ${index}`),
      random: random.fork(`responder ${index}`),
      receipts,
      signal: answering.signal,
    }),
  );
  const hostilePlace = random.fork('place of the attacks');
  const hostileTenant = runHostileTenant({
    http: connection('hostile tenant', prepared.hostileKey),
    port: () => cluster.port(hostilePlace.int(0, cluster.places - 1)),
    key: prepared.hostileKey,
    random: random.fork('hostile tenant'),
    receipts,
    serviceUrl: workload.hostileUrl,
    signal: working.signal,
  });
  const replayer = runDeadLetterReplayer(connection('dead letter replayer'), receipts, answering.signal);
  const byThemselves = workload.started.run(working.signal);
  const all = [...clients, ...operators, ...responders, replayer, hostileTenant, byThemselves];
  try {
    await workload.faults();
    note('the faults are over');
    working.abort();
    await Promise.all([...clients, ...operators, hostileTenant, byThemselves]);
    const quarantined = await untilQuarantined(
      connection('quarantine reader', prepared.hostileKey),
      receipts,
      note,
    );
    await receiver.recover();
    const started = await workload.started.finish();
    const reader = connection('reader');
    const isSettled = await settle(reader, receipts, SETTLE_WITHIN_MS, note);
    if (!isSettled) note('not every run has come to its end');
    await close(workload, reader);
    await settle(reader, receipts, isSettled ? SETTLE_WITHIN_MS : CLOSE_WITHIN_MS, note);
    const runs = [
      ...(await collectRuns(reader)),
      ...(await collectRuns(connection('guest', prepared.guestKey))),
    ];
    await untilDelivered(workload, runs);
    answering.abort();
    await Promise.all([...responders, replayer, callbacks.idle()]);
    quarantined.push(...(await listQuarantined(reader)));
    return { runs, quarantined, started, probes: await probeGone(reader, receipts) };
  } finally {
    working.abort();
    answering.abort();
    await Promise.allSettled(all);
  }
}

/** The runs of the hostile tenant that are set aside, once all are that end processes; or after a while. */
async function untilQuarantined(
  http: HttpClient,
  { crashing }: Receipts,
  note: (line: string) => void,
): Promise<string[]> {
  const until = performance.now() + QUARANTINE_WITHIN_MS;
  for (;;) {
    const found = await listQuarantined(http);
    if (crashing.every((runId) => found.includes(runId)) || performance.now() > until) return found;
    note(`${found.length} of ${crashing.length} crashing runs are quarantined`);
    await pause(2_000);
  }
}

/** The last runs: one kind is delivered to every webhook, the other lists what memories hold. */
async function close({ workflows, receipts }: Workload, http: HttpClient): Promise<void> {
  await pause(2 * WEBHOOK_REFRESH_MS);
  const wanted = [
    ...Array.from({ length: CLOSING_RUNS }, () => ({ workflowId: workflows.closing, tags: [CLOSING_TAG] })),
    ...workflows.recalls.map((workflowId) => ({ workflowId, tags: [] })),
  ];
  for (const [index, { workflowId, tags }] of wanted.entries()) {
    const tag = `last-${index}`;
    const body = { workflowId, tags: [tag, ...tags] };
    const answer = await http.askUntilAnswered('POST', '/v1/runs', { body, key: tag });
    if (answer?.status === 201) receipts.created.push({ tag, runId: String(answer.json['runId']) });
    else
      receipts.unexpectedResponses.push({ request: 'POST /v1/runs', status: answer?.status ?? 0, body: tag });
  }
}

async function untilDelivered({ receipts, receiver, note }: Workload, runs: History['runs']): Promise<void> {
  const read = runs.map((run) => ({
    ...run,
    events: run.log.map((text) => JSON.parse(text) as EventDocument),
  }));
  const until = performance.now() + DELIVER_WITHIN_MS;
  while (performance.now() < until) {
    const { webhooks } = receipts;
    const missing = missingDeliveries({ webhooks, deliveries: receiver.seen }, read);
    if (missing.length === 0) return;
    await pause(500);
  }
  note('not everything was delivered');
}
