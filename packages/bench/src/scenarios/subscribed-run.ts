import { call, createRun, expectCall, registerWorkflow } from '../load/calls.ts';
import type { Driver } from '../load/driver.ts';
import type { EchoServer } from '../load/echo-server.ts';
import type { Target } from '../load/http-connection.ts';
import type { SubscribeResult, SubscriberGroup } from '../measuring/jobs.ts';
import { chainOf, httpStep } from '../load/workloads.ts';

/** Runs, one per target, that wait for their subscribers and then emit two events per step. */
export interface Broadcast {
  readonly targets: readonly Target[];
  readonly subscribers: number;
  readonly steps: number;
  /** What each step calls; it decides how fast the steps follow each other. */
  readonly stepUrl: string;
  /** Subscribers of the first run that never read. */
  readonly stuck?: number;
}

let names = 0;

/** On the host: the first node waits at a gate until every subscriber is there. Resolves once they are and it has opened. */
export async function beginOnHost(driver: Driver, echo: EchoServer, broadcast: Broadcast) {
  const gate = echo.newGate();
  const workflowId = `bench-broadcast-${(names += 1)}`;
  const { steps, stepUrl } = broadcast;
  const urls = [gate.url, ...Array.from({ length: steps - 1 }, () => stepUrl)];
  const definition = chainOf(workflowId, 'events for subscribers', urls.map(httpStep));
  const groups: SubscriberGroup[] = [];
  for (const target of broadcast.targets) {
    await registerWorkflow(target, definition);
    const runId = await createRun(target, workflowId);
    await untilAtGate(target, runId);
    // In debug mode every event is sent, so that a gap in the ids is a loss.
    groups.push({ target, path: `/v1/runs/${runId}/events?streamMode=debug`, count: shareOf(broadcast) });
  }
  const [first] = groups;
  if (first !== undefined && broadcast.stuck !== undefined)
    groups.push({ ...first, count: broadcast.stuck, stuck: true });
  const running = await driver.subscribe({ kind: 'subscribe', groups });
  gate.open();
  return running;
}

export async function playOnHost(
  driver: Driver,
  echo: EchoServer,
  broadcast: Broadcast,
): Promise<SubscribeResult> {
  const running = await beginOnHost(driver, echo, broadcast);
  return running.over;
}

/** The same on the bare fan-out. */
export async function playOnFanOut(driver: Driver, broadcast: Broadcast): Promise<SubscribeResult> {
  const channels = broadcast.targets.map((target) => ({ target, channel: `c${(names += 1)}` }));
  const groups = channels.map(({ target, channel }) => ({
    target,
    path: `/channels/${channel}/events`,
    count: shareOf(broadcast),
  }));
  const running = await driver.subscribe({ kind: 'subscribe', groups });
  for (const { target, channel } of channels) {
    const query = new URLSearchParams({ steps: String(broadcast.steps), url: broadcast.stepUrl });
    await expectCall(target, { method: 'POST', path: `/channels/${channel}/start?${query}` }, 201);
  }
  return running.over;
}

function shareOf({ targets, subscribers }: Broadcast): number {
  return Math.ceil(subscribers / targets.length);
}

/** A long poll: answers once the first node has started, which is the second event. */
async function untilAtGate(target: Target, runId: string): Promise<void> {
  await call(target, { path: `/v1/runs/${runId}/events/poll?lastSequence=0&timeout=5` });
}
