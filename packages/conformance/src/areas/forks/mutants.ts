import type { JsonObject } from '@weft/protocol';
import { answered, answeredWith, events, omit, payloads, status } from '../../mutants/answers.ts';
import type { Mutant, MutantMemory, ProxiedRequest } from '../../mutants/mutant.ts';
import { ownersKey, runOf, sent, sentHeader } from '../../mutants/requests.ts';
import { DISCOVERY, FORK, POLL, RUNS } from '../../mutants/targets.ts';

/** Forks, and the logs of runs: what a mutant needs to break the log of a fork alone. */
const FORK_AND_POLL = { path: /:fork$|\/events\/poll/ };

export const FORKS_MUTANTS: readonly Mutant[] = [
  {
    id: 'forks/unknown-mode-advertised',
    breaks: 'replay.modes has a mode that the protocol does not know',
    caughtBy: ['forks/advertised-modes'],
    says: /replay and branch alone/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, replay: { supported: true, modes: ['rewind'] } })),
  },
  {
    id: 'forks/answered-with-200',
    breaks: 'a fork is answered with 200',
    caughtBy: ['forks/from-the-start'],
    says: /status 201/,
    on: FORK,
    answer: status(201, 200),
  },
  {
    id: 'forks/source-in-place-of-a-fork',
    breaks: 'a fork is answered with its source',
    caughtBy: ['forks/from-the-start'],
    says: /a fork is a run of its own/,
    on: FORK,
    answer: forked((body) => ({ ...body, runId: body['sourceRunId'] ?? null })),
  },
  {
    id: 'forks/no-source',
    breaks: 'a fork does not name its source',
    caughtBy: ['forks/from-the-start'],
    says: /names its source/,
    on: FORK,
    answer: forked((body) => omit(body, 'sourceRunId')),
  },
  {
    id: 'forks/another-mode',
    breaks: 'every fork is said to be a branch',
    caughtBy: ['forks/equal-replays', 'forks/replay-of-an-answer'],
    says: /names its mode/,
    on: FORK,
    answer: forked((body) => ({ ...body, mode: 'branch' })),
  },
  {
    id: 'forks/another-from-seq',
    breaks: 'fromSeq is one too small in the answer',
    caughtBy: ['forks/from-the-middle'],
    says: /names its fromSeq/,
    on: FORK,
    answer: forked((body) => ({ ...body, fromSeq: Number(body['fromSeq']) - 1 })),
  },
  {
    id: 'forks/no-events-url',
    breaks: 'a fork has no eventsUrl',
    caughtBy: ['forks/from-the-start'],
    says: /has an eventsUrl/,
    on: FORK,
    answer: forked((body) => omit(body, 'eventsUrl')),
  },
  {
    id: 'forks/events-url-leads-nowhere',
    breaks: 'eventsUrl leads to no run',
    caughtBy: ['forks/from-the-start'],
    says: /eventsUrl leads to the events/,
    on: FORK,
    answer: forked((body) => ({ ...body, eventsUrl: '/v1/runs/no-such-run/events' })),
  },
  {
    id: 'forks/always-from-the-start',
    breaks: 'a fork from the middle is one from 0',
    caughtBy: ['forks/from-the-middle'],
    says: /names its fromSeq|not executed again/,
    on: FORK,
    request: sent((asked) => ({ ...asked, fromSeq: 0 })),
  },
  {
    id: 'forks/runs-again-from-the-start',
    breaks: 'a fork from the middle executes everything again and hides it',
    caughtBy: ['forks/from-the-middle'],
    says: /inherited with sequence, type, node, payload and time/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) => all.map((event) => ({ ...event, timestamp: '2000-01-01T00:00:00.000Z' }))),
  },
  {
    id: 'forks/old-run-ids',
    breaks: 'inherited events have the runId of the source',
    caughtBy: ['forks/from-the-middle'],
    says: /has the runId of the fork/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) => all.map((event) => ({ ...event, runId: 'source' }))),
  },
  {
    id: 'forks/gap',
    breaks: 'the log of a fork has a gap at fromSeq',
    caughtBy: ['forks/from-the-start'],
    says: /no gap/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) =>
      all.map((event) =>
        Number(event['sequence']) > 1 ? { ...event, sequence: Number(event['sequence']) + 1 } : event,
      ),
    ),
  },
  {
    id: 'forks/numbered-again',
    breaks: 'a fork numbers its own events from 0 again',
    caughtBy: ['forks/from-the-middle'],
    says: /in the order of their sequences/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) =>
      all.map((event) =>
        Number(event['sequence']) > 4 ? { ...event, sequence: Number(event['sequence']) - 5 } : event,
      ),
    ),
  },
  {
    id: 'forks/source-is-marked',
    breaks: 'a fork leaves an event in the log of its source',
    caughtBy: ['forks/from-the-start'],
    says: /leaves the log of its source/,
    on: FORK_AND_POLL,
    answer: (answer, request, memory) => {
      remember(answer.body, request, memory);
      const isLog = POLL.path.test(request.path);
      if (!isLog || isLogOfFork(request, memory) || memory.size === 0) return answer;
      const change = events((all) => [...all, ...all.slice(-1)]);
      return change(answer, request, memory);
    },
  },
  {
    id: 'forks/replays-differ',
    breaks: 'every replay has something of its own in its payloads',
    caughtBy: ['forks/equal-replays'],
    says: /the same types, nodes and payloads/,
    on: FORK_AND_POLL,
    answer: logOfForks((all, runId) => all.map((event) => ({ ...event, payload: { nonce: runId } }))),
  },
  {
    id: 'forks/replay-loses-an-event',
    breaks: 'a replay has an event less than its source',
    caughtBy: ['forks/replay-as-source'],
    says: /types and nodes of its source/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) => all.filter(({ type }) => type !== 'node.started')),
  },
  {
    id: 'forks/replay-without-variables',
    breaks: 'a replay ends without the variables of its source',
    caughtBy: ['forks/replay-as-source'],
    says: /variables of its source/,
    on: { path: /:fork$|^\/v1\/runs\/[^/:]+$/ },
    answer: (answer, request, memory) => {
      remember(answer.body, request, memory);
      const isFork = memory.has(`fork ${request.path.split('/').at(-1) ?? ''}`);
      return isFork ? answered((run) => ({ ...run, variables: {} }))(answer, request, memory) : answer;
    },
  },
  {
    id: 'forks/divergence-out-of-nothing',
    breaks: 'a replay that does the same reports a divergence',
    caughtBy: ['forks/replay-of-an-answer', 'forks/replay-as-source'],
    says: /reports no divergence/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) => all.map((event) => ({ ...event, type: 'replay.diverged' }))),
  },
  {
    id: 'forks/new-children',
    breaks: 'a replay makes child runs again',
    caughtBy: ['forks/replay-of-a-child'],
    says: /names the child run of its source/,
    on: FORK_AND_POLL,
    answer: (answer, request, memory) => {
      remember(answer.body, request, memory);
      return isLogOfFork(request, memory)
        ? { ...answer, body: answer.body.replaceAll(/"childRunId":"[^"]*"/g, '"childRunId":"another"') }
        : answer;
    },
  },
  {
    id: 'forks/replay-delivered',
    breaks: 'events of a replay are delivered as those of any run',
    caughtBy: ['forks/replay-is-not-delivered'],
    says: /end of a replay is not delivered/,
    on: FORK,
    request: sent((asked) => ({ ...asked, mode: 'branch' })),
    answer: forked((answer) => ({ ...answer, mode: 'replay' })),
  },
  {
    id: 'forks/branch-as-replay',
    breaks: 'a branch takes recorded answers',
    caughtBy: ['forks/branch-asks-again'],
    says: /becomes waiting-approval|\/interrupts\/gate/,
    on: FORK,
    request: sent((asked) => ({ ...omit(asked, 'runOptionsOverlay'), mode: 'replay' })),
    answer: forked((answer) => ({ ...answer, mode: 'branch' })),
  },
  {
    id: 'forks/overlay-ignored',
    breaks: 'the overlay of a branch is ignored',
    caughtBy: ['forks/branch-overlay', 'forks/branch-overlay-is-merged'],
    says: /lower recursionLimit fails/,
    on: FORK,
    request: sent((body) => omit(body, 'runOptionsOverlay')),
  },
  {
    id: 'forks/overlay-in-place-of-options',
    breaks: 'the overlay of a branch replaces the options of its source',
    caughtBy: ['forks/branch-overlay-is-merged'],
    says: /laid over that of the source/,
    on: { method: 'GET', path: /^\/v1\/runs\/[^/:]+$/ },
    answer: answered((run) =>
      JSON.stringify(run['metadata'] ?? null).includes('from the overlay')
        ? { ...run, metadata: { 'example.changed': 'from the overlay' } }
        : run,
    ),
  },
  {
    id: 'forks/replay-overlay-ignored',
    breaks: 'the overlay of a replay is ignored',
    caughtBy: ['forks/replay-takes-no-overlay'],
    says: /status 400/,
    on: FORK,
    request: sent((body) => omit(body, 'runOptionsOverlay')),
  },
  {
    id: 'forks/empty-overlay-rejected',
    breaks: 'an empty overlay is rejected',
    caughtBy: ['forks/empty-overlay'],
    says: /status 201/,
    on: FORK,
    answer: status(201, 400),
  },
  {
    id: 'forks/from-seq-required',
    breaks: 'a replay without fromSeq is rejected',
    caughtBy: ['forks/replay-from-the-start-by-default'],
    says: /status 201/,
    on: FORK,
    request: sent((asked) => ('fromSeq' in asked ? asked : { ...asked, fromSeq: null })),
  },
  {
    id: 'forks/branch-from-the-start-by-default',
    breaks: 'a branch without fromSeq is one from 0',
    caughtBy: ['forks/branch-needs-from-seq'],
    says: /status 400/,
    on: FORK,
    request: sent((asked) => ({ fromSeq: 0, ...asked })),
  },
  {
    id: 'forks/negative-from-seq',
    breaks: 'a negative fromSeq is taken for 0',
    caughtBy: ['forks/bad-from-seq'],
    says: /status 400/,
    on: FORK,
    request: sent((asked) => ({ ...asked, fromSeq: Math.max(0, Number(asked['fromSeq'])) })),
  },
  {
    id: 'forks/past-the-log-is-400',
    breaks: 'a fromSeq past the log is a 400',
    caughtBy: ['forks/bad-from-seq'],
    says: /status 422/,
    on: FORK,
    answer: status(422, 400),
  },
  {
    id: 'forks/past-the-log-is-its-end',
    breaks: 'a fromSeq past the log is taken for its end',
    caughtBy: ['forks/bad-from-seq'],
    says: /status 422/,
    on: FORK,
    request: sent((asked) => (asked['fromSeq'] === 99_999 ? { ...asked, fromSeq: 0 } : asked)),
  },
  {
    id: 'forks/unknown-member-ignored',
    breaks: 'an unknown member of a fork is ignored',
    caughtBy: ['forks/bad-bodies'],
    says: /status 400/,
    on: FORK,
    request: sent((body) => omit(body, 'fromSequence')),
  },
  {
    id: 'forks/unknown-mode-ignored',
    breaks: 'an unknown mode is a replay',
    caughtBy: ['forks/bad-bodies'],
    says: /status 400/,
    on: FORK,
    request: sent((asked) => ({ ...asked, mode: 'replay' })),
  },
  {
    id: 'forks/unknown-run-is-400',
    breaks: 'a fork of a run that does not exist is a 400',
    caughtBy: ['forks/unknown-run'],
    says: /status 404 or 403/,
    on: FORK,
    answer: status(404, 400),
  },
  {
    id: 'forks/readers-may-fork',
    breaks: 'a key that may only read forks',
    caughtBy: ['forks/needs-a-key'],
    says: /status 40[13]/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'forks/open-to-other-tenants',
    breaks: 'a key of another tenant forks a run',
    caughtBy: ['forks/other-tenant'],
    says: /status 404 or 403/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'forks/another-owner',
    breaks: 'a fork belongs to another tenant',
    caughtBy: ['forks/owner'],
    says: /tenant of its source/,
    on: { path: /:fork$|^\/v1\/runs\/[^/:]+$/ },
    answer: (answer, request, memory) => {
      remember(answer.body, request, memory);
      const isFork = memory.has(`fork ${request.path.split('/').at(-1) ?? ''}`);
      return isFork
        ? answered((run) => ({ ...run, owner: { tenant: 'another' } }))(answer, request, memory)
        : answer;
    },
  },
  {
    id: 'forks/second-fork-for-one-key',
    breaks: 'a fork does not look at its Idempotency-Key',
    caughtBy: ['forks/idempotent'],
    says: /are one run/,
    on: FORK,
    request: sentHeader('idempotency-key', () => undefined),
  },
  {
    id: 'forks/unrecorded-effect-made-up',
    breaks: 'an effect that the source has not recorded fails with another code in a replay',
    caughtBy: ['forks/replay-of-a-cancelled-run'],
    says: /fails with replay_source_missing/,
    on: POLL,
    answer: payloads('node.failed', (payload) => ({
      ...payload,
      error: { code: 'node_failed', message: 'It failed.' },
    })),
  },
  {
    id: 'forks/effect-again',
    breaks: 'a replay performs an effect again, with another outcome',
    caughtBy: ['forks/replay-of-an-effect'],
    says: /outcomes are those of the source/,
    on: FORK_AND_POLL,
    answer: logOfForks((all) =>
      all.map((event) =>
        event['type'] === 'node.completed' ? { ...event, payload: { outputs: { effectId: 'new' } } } : event,
      ),
    ),
  },
];

function forked(change: (answer: JsonObject) => JsonObject) {
  return answeredWith('sourceRunId', change);
}

/** Changes the log of forks, and of no other run. */
function logOfForks(
  change: (events: JsonObject[], runId: string) => JsonObject[],
): NonNullable<Mutant['answer']> {
  return (answer, request, memory) => {
    remember(answer.body, request, memory);
    if (!isLogOfFork(request, memory)) return answer;
    const runId = runOf(request);
    return events((all) => change(all, runId))(answer, request, memory);
  };
}

function remember(text: string, request: ProxiedRequest, memory: MutantMemory): void {
  const runId = request.path.endsWith(':fork') ? /"runId":"([^"]+)"/.exec(text)?.[1] : undefined;
  if (runId !== undefined) memory.set(`fork ${runId}`, true);
}

function isLogOfFork(request: ProxiedRequest, memory: MutantMemory): boolean {
  return POLL.path.test(request.path) && memory.has(`fork ${runOf(request)}`);
}
