import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { LaunchedHost } from '../../suite/launcher.ts';
import { createRunDriver, TERMINAL_STATUSES } from '../../suite/run-driver.ts';
import { expectEndedLog, ofType, outline } from '../events/log.ts';
import { createWithKey, expectFirst, expectReplay, runIdOf } from '../idempotency/replay.ts';

/** Two starts of a host, and a claim of the first that has to run out. */
const TIMEOUT_MS = 120_000;
const TAKEOVER_MS = 60_000;
const WAITING_PARENT = 'conformance-interrupt-parent-child-cancel';
const LAUNCHED = { launch: true } as const;

/**
 * Every check starts a process, kills it, and looks at what the next one makes of its data. They run alone: an embedded
 * database has room for one process.
 */
export const PROCESSES_CHECKS: readonly Check[] = [
  {
    id: 'processes/run-survives',
    title: 'a run whose process is killed is taken up by the next one and ends',
    proves: ['PROC-1', 'PROC-2'],
    needs: { ...LAUNCHED, fixtures: ['conformance-delay'] },
    isAlone: true,
    timeoutMs: TIMEOUT_MS,
    async run(context) {
      const { expect } = context;
      const { runId, early } = await withProcess(context, async (first) => {
        const id = await first.runs.create('conformance-delay', { inputs: { delayMs: 1_500 } });
        await first.runs.reaches(id, 'running');
        return { runId: id, early: await first.runs.eventsSoFar(id) };
      });

      await withProcess(context, async (next) => {
        const ended = await endedAfterTakeover(next, runId);
        expect.equal(ended['status'], 'completed', 'a run that was taken up completes');
        const events = await next.runs.events(runId);
        expectEndedLog(next, events);
        expect.equal(
          events.slice(0, early.length),
          early,
          'the log begins with the events that were read before the process was killed',
        );
        expect.that(
          ofType(events, 'run.started').length === 1,
          'a run that was taken up has one run.started',
          outline(events),
        );
      });
    },
  },
  {
    id: 'processes/acknowledged-survives',
    title: 'nothing that was acknowledged is lost with a process',
    proves: ['PROC-3', 'PROC-4', 'PROC-6'],
    needs: {
      ...LAUNCHED,
      fixtures: ['conformance-multi-node', 'conformance-idempotent', 'conformance-cancellable'],
    },
    isAlone: true,
    timeoutMs: TIMEOUT_MS,
    async run(context) {
      const { expect, unique } = context;
      const key = unique();
      const inputs = { nonce: unique() };
      const { ended, log, created, cancelled, first } = await withProcess(context, async (host) => {
        const id = await host.runs.create('conformance-multi-node');
        await host.runs.ended(id);
        const events = await host.runs.events(id);
        const keyed = await createWithKey(host, key, inputs);
        expectFirst(host, keyed);
        const doomed = await host.runs.create('conformance-cancellable');
        await host.runs.reaches(doomed, 'running');
        const last = await Promise.all(
          Array.from({ length: 5 }, () => host.runs.create('conformance-multi-node')),
        );
        expect.status(await host.runs.cancel(doomed), 200);
        return { ended: id, log: events, created: last, cancelled: doomed, first: keyed };
      });

      await withProcess(context, async (next) => {
        expectReplay(next, first, await createWithKey(next, key, inputs));
        expect.equal(
          await next.runs.events(ended),
          log,
          'the log of a run that had ended is as it was before the process was killed',
        );
        for (const runId of created) {
          const snapshot = await endedAfterTakeover(next, runId);
          expect.equal(
            snapshot['status'],
            'completed',
            'a run that was acknowledged before the kill completes',
          );
        }
        const { status } = await endedAfterTakeover(next, cancelled);
        expect.equal(status, 'cancelled', 'a cancel that was acknowledged before the kill holds');
      });
    },
  },
  {
    id: 'processes/waiting-survives',
    title: 'a run that waits for an answer takes it from the next process',
    proves: ['PROC-5', 'PROC-8'],
    needs: {
      ...LAUNCHED,
      fixtures: ['conformance-approval', WAITING_PARENT, `${WAITING_PARENT}-child`],
    },
    isAlone: true,
    timeoutMs: TIMEOUT_MS,
    async run(context) {
      const { expect } = context;
      const { waiting, parent, children } = await withProcess(context, async (first) => {
        const gate = await first.runs.create('conformance-approval');
        const above = await first.runs.create(WAITING_PARENT);
        await first.runs.reaches(gate, 'waiting-approval');
        return { waiting: gate, parent: above, children: await childrenOf(first, above) };
      });

      await withProcess(context, async (next) => {
        const snapshot = await next.runs.reaches(waiting, 'waiting-approval');
        expect.equal(
          snapshot['currentNodeId'],
          'gate',
          'the run waits at the node at which it waited before',
        );
        expect.status(await next.runs.resolve(waiting, 'gate', { action: 'accept' }), 200);
        const ended = await endedAfterTakeover(next, waiting);
        expect.equal(ended['status'], 'completed', 'a run that was answered after the kill completes');
        expect.equal(
          await childrenOf(next, parent),
          children,
          'a parent has the child it had before the process was killed, and no other',
        );
        await next.runs.cancel(parent);
      });
    },
  },
  {
    id: 'processes/pause-survives',
    title: 'a paused run is paused in the next process, and can be resumed',
    proves: ['PROC-7'],
    needs: { ...LAUNCHED, fixtures: ['conformance-delay'] },
    isAlone: true,
    timeoutMs: TIMEOUT_MS,
    async run(context) {
      const { expect } = context;
      const runId = await withProcess(context, async (first) => {
        const id = await first.runs.create('conformance-delay', { inputs: { delayMs: 1_000 } });
        await first.runs.reaches(id, 'running');
        const paused = await first.host.request('POST', `/v1/runs/${id}:pause`, {
          body: { drainPolicy: 'immediate' },
        });
        expect.status(paused, 202);
        await first.runs.reaches(id, 'paused');
        return id;
      });

      await withProcess(context, async (next) => {
        const snapshot = await next.runs.snapshot(runId);
        expect.equal(snapshot['status'], 'paused', 'a paused run is paused after the process was killed');
        expect.status(await next.host.request('POST', `/v1/runs/${runId}:resume`, { body: {} }), 202);
        const ended = await endedAfterTakeover(next, runId);
        expect.equal(ended['status'], 'completed', 'a run that was resumed after the kill completes');
      });
    },
  },
  {
    id: 'processes/side-by-side',
    title: 'processes that share a store show the same runs and take up what another one leaves',
    proves: ['PROC-9', 'PROC-10'],
    needs: { ...LAUNCHED, fixtures: ['conformance-delay', 'conformance-idempotent'] },
    isAlone: true,
    timeoutMs: TIMEOUT_MS,
    async run(context) {
      const { expect, unique } = context;
      await withProcess(context, async (first, kill) => {
        const second = await context.launcher?.start();
        try {
          const other = second === undefined ? first : through(context, second);
          await expectOneRun(first, other, unique());
          const runId = await first.runs.create('conformance-delay', { inputs: { delayMs: 1_500 } });
          await other.runs.reaches(runId, 'running');
          // Without a second process there is nothing to take over: the first one still works.
          if (second !== undefined) await kill();
          const ended = await endedAfterTakeover(other, runId);
          expect.equal(ended['status'], 'completed', 'a run completes although its process was killed');
          expectEndedLog(other, await other.runs.events(runId));
        } finally {
          await second?.kill();
        }
      });
    },
  },
];

/** Starts a process, uses it, and kills it as a crash would. */
async function withProcess<Result>(
  context: CheckContext,
  use: (inside: CheckContext, kill: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const launched = await context.launcher?.start();
  context.expect.that(launched !== undefined, 'the command of --launch starts a process of the host');
  if (launched === undefined) throw new Error('no process');
  try {
    return await use(through(context, launched), () => launched.kill());
  } finally {
    await launched.kill();
  }
}

/** The same check, asking one process. */
function through(context: CheckContext, { client }: LaunchedHost): CheckContext {
  const { expect, eventually } = context;
  return { ...context, host: client, runs: createRunDriver(client, expect, eventually) };
}

/** A process that was killed may hold its runs until its claims run out. */
function endedAfterTakeover({ runs, eventually }: CheckContext, runId: string): Promise<JsonObject> {
  return eventually(
    'a run ends after its process was killed',
    async () => {
      const snapshot = await runs.snapshot(runId);
      return TERMINAL_STATUSES.includes(String(snapshot['status'])) ? snapshot : undefined;
    },
    TAKEOVER_MS,
  );
}

async function childrenOf({ runs, eventually }: CheckContext, runId: string): Promise<Json[]> {
  return eventually('the parent lists its child in childRuns', async () => {
    const { childRuns } = await runs.reaches(runId, 'pending', 'running', 'waiting-approval');
    if (!Array.isArray(childRuns) || childRuns.length === 0) return undefined;
    return childRuns.map((child) => (isJsonObject(child) ? (child['runId'] ?? null) : child));
  });
}

/** Parallel duplicates, half of them to each process. */
async function expectOneRun(one: CheckContext, other: CheckContext, key: string): Promise<void> {
  const { expect } = one;
  const inputs = { nonce: key };
  const answers = await Promise.all(
    [one, other, one, other, one, other].map((host) => createWithKey(host, key, inputs)),
  );
  for (const answer of answers) expect.status(answer, 200, 201, 409);
  const made = answers.filter(({ status }) => status !== 409).map((answer) => runIdOf(one, answer));
  expect.that(made.length > 0, 'one of the parallel requests makes a run');
  expect.that(
    new Set(made).size === 1,
    'parallel requests with one key have one runId, whichever process they reach',
    made,
  );
}
