import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { coreOf, isRising } from '../events/log.ts';
import { canary } from '../secrets/canaries.ts';
import { approve, waitingRun } from '../streams/reading.ts';
import { comparisons } from './oracle.ts';

const MEMBERS = ['a', 'b', 'divergedAtSeq', 'eventDiffs', 'stateDiff', 'truncated'];
const REQUIRED = ['a', 'b', 'eventDiffs', 'stateDiff'];
const DIFFERENCE_MEMBERS = ['seq', 'op', 'aEvent', 'bEvent'];
const OPPOSITE: Readonly<Record<string, string>> = {
  added: 'removed',
  removed: 'added',
  changed: 'changed',
};

export const DIFF_CHECKS: readonly Check[] = [
  {
    id: 'diff/served-or-absent',
    title: 'a diff is served, or its path is not found',
    proves: ['DIFF-1'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');

      const answer = await host.request('GET', diffPath(runId, runId));

      if (answer.status === 200) expect.object(answer.json, 'a diff is answered with an object');
      else expect.envelope(answer, { status: 404 });
    },
  },
  {
    id: 'diff/identical',
    title: 'a run does not differ from itself',
    proves: ['DIFF-6', 'DIFF-8'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');

      const diff = await diffOf(context, runId, runId);

      expect.equal(diff.body['divergedAtSeq'], null, 'a run compared with itself has divergedAtSeq null');
      expect.equal(diff.differences.length, 0, 'a run compared with itself has no differences');
      expect.equal(diff.body['stateDiff'], {}, 'a run compared with itself has an empty stateDiff');
    },
  },
  {
    id: 'diff/two-workflows',
    title: 'two runs of different workflows differ as their logs do',
    proves: ['DIFF-6', 'DIFF-7', 'DIFF-10', 'DIFF-11', 'DIFF-12', 'DIFF-13', 'DIFF-19', 'DIFF-20'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-failure'] },
    async run(context) {
      const { expect } = context;
      const long = await context.runs.endedRun('conformance-multi-node');
      const short = await context.runs.endedRun('conformance-failure');

      const diff = await diffOf(context, long, short);
      const opposite = await diffOf(context, short, long);

      await followsTheLogs(context, diff);
      await followsTheLogs(context, opposite);
      expect.equal(
        opposite.differences.map(({ seq, op }) => ({ seq, op: OPPOSITE[op] })),
        diff.differences.map(({ seq, op }) => ({ seq, op })),
        'asked the other way round, added and removed are exchanged and the sequences are the same',
      );
      const state = expect.object(diff.body['stateDiff'], 'stateDiff is an object');
      expect.that(state['status'] !== undefined, 'stateDiff shows that the final statuses differ', state);
    },
  },
  {
    id: 'diff/two-runs-of-one-workflow',
    title: 'ids and times of two runs do not count',
    proves: ['DIFF-14'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const [a, b] = [await approvedRun(context), await approvedRun(context)];

      await followsTheLogs(context, await diffOf(context, a, b));
    },
  },
  {
    id: 'diff/ids-that-count',
    title: 'the id of a child run counts',
    proves: ['DIFF-15'],
    needs: { fixtures: ['conformance-subworkflow-parent', 'conformance-subworkflow-child'] },
    async run(context) {
      const { runs, expect } = context;
      const a = await context.runs.endedRun('conformance-subworkflow-parent');
      const b = await context.runs.endedRun('conformance-subworkflow-parent');
      const naming = (await runs.events(a)).filter((event) => JSON.stringify(event).includes('"childRunId"'));
      expect.that(naming.length > 0, 'the log of a parent names its child run');

      const diff = await diffOf(context, a, b);

      const listed = diff.differences.map(({ seq }) => seq);
      for (const { sequence } of naming)
        expect.that(
          listed.includes(Number(sequence)),
          'an event whose childRunId is another is a difference',
          listed,
          sequence,
        );
      await followsTheLogs(context, diff);
    },
  },
  {
    id: 'diff/replay',
    title: 'a run does not differ from its replay',
    proves: ['DIFF-9'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect, notApplicable } = context;
      const source = await context.runs.endedRun('conformance-multi-node');
      const forked = await runs.fork(source, { mode: 'replay', fromSeq: 0 });
      if (forked.status === 501) return notApplicable('the host does not replay');
      expect.status(forked, 201, 200);
      const replay = expect.string(
        expect.object(forked.json, 'a fork is answered with an object')['runId'],
        'a fork has a runId',
      );
      await runs.ended(replay);

      const diff = await diffOf(context, source, replay);

      expect.equal(diff.body['divergedAtSeq'], null, 'a replay does not diverge from its source');
      expect.equal(diff.differences.length, 0, 'a replay has no differences from its source');
      return undefined;
    },
  },
  {
    id: 'diff/branch',
    title: 'a branch differs from its source where it goes another way',
    proves: ['DIFF-16'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect, notApplicable } = context;
      const { runId: source, events } = await waitingRun(context);
      const fromSeq = Number(events.at(-1)?.['sequence']) + 1;
      await approve(context, source);
      await runs.ended(source);
      const forked = await runs.fork(source, { mode: 'branch', fromSeq });
      if (forked.status === 501) return notApplicable('the host does not branch');
      expect.status(forked, 201, 200);
      const branch = expect.string(
        expect.object(forked.json, 'a fork is answered with an object')['runId'],
        'a fork has a runId',
      );
      await runs.reaches(branch, 'waiting-approval');
      expect.status(await runs.resolve(branch, 'gate', { action: 'reject' }), 200);
      await runs.ended(branch);

      const diff = await diffOf(context, source, branch);

      const divergedAt = expect.integer(
        diff.body['divergedAtSeq'],
        'a branch that was answered otherwise diverges',
      );
      expect.that(
        divergedAt >= fromSeq,
        'a branch does not differ from its source before fromSeq',
        divergedAt,
        `${fromSeq} or more`,
      );
      await followsTheLogs(context, diff);
      return undefined;
    },
  },
  {
    id: 'diff/repeated',
    title: 'a diff asked again is the same',
    proves: ['DIFF-17', 'DIFF-23'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-failure'] },
    async run(context) {
      const { runs, expect } = context;
      const a = await context.runs.endedRun('conformance-multi-node');
      const b = await context.runs.endedRun('conformance-failure');
      const before = [await runs.events(a), await runs.events(b)];

      const first = await diffOf(context, a, b);
      const second = await diffOf(context, a, b);

      expect.equal(second.body, first.body, 'a diff asked again has the same answer');
      expect.equal(
        [await runs.events(a), await runs.events(b)],
        before,
        'a diff leaves both logs as they were',
      );
    },
  },
  {
    id: 'diff/same-bytes',
    title: 'a diff asked again has the same bytes',
    proves: ['DIFF-18'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-failure'] },
    async run(context) {
      const a = await context.runs.endedRun('conformance-multi-node');
      const b = await context.runs.endedRun('conformance-failure');

      const first = await diffOf(context, a, b);
      const second = await diffOf(context, a, b);

      context.expect.that(
        second.text === first.text,
        'a diff asked again has the same bytes',
        second.text,
        first.text,
      );
    },
  },
  {
    id: 'diff/state',
    title: 'stateDiff shows variables that differ, without credentials',
    proves: ['DIFF-20', 'DIFF-21'],
    needs: { fixtures: ['conformance-identity'] },
    async run(context) {
      const { runs, expect, unique } = context;
      const secrets = [canary('openai').value, canary('openai').value];
      const [one, other] = await Promise.all(
        secrets.map((apiKey) =>
          context.runs.endedRun('conformance-identity', { inputs: { payload: { text: unique() }, apiKey } }),
        ),
      );
      const a = expect.string(one, 'a run was made');
      const b = expect.string(other, 'a run was made');

      const diff = await diffOf(context, a, b);

      const state = expect.object(diff.body['stateDiff'], 'stateDiff is an object');
      const differs = (await runs.snapshot(a))['variables'] !== undefined;
      if (differs)
        expect.that(
          state['variables'] !== undefined,
          'stateDiff shows that the variables differ',
          Object.keys(state),
        );
      expect.that(
        state['status'] === undefined,
        'stateDiff leaves out a status that is the same',
        state['status'],
      );
      for (const secret of secrets) expect.absent(diff.text, secret, 'a diff carries no credential');
    },
  },
  {
    id: 'diff/unfinished',
    title: 'a run that has not ended is compared as a prefix, or not at all',
    proves: ['DIFF-22'],
    needs: { fixtures: ['conformance-approval', 'conformance-noop'] },
    async run(context) {
      const { host, runs, expect } = context;
      const ended = await context.runs.endedRun('conformance-noop');
      const { runId: waiting } = await waitingRun(context);
      for (const [a, b] of [
        [waiting, ended],
        [ended, waiting],
      ] as const) {
        const answer = await served(context, await host.request('GET', diffPath(a, b)));

        if (answer.status === 200)
          expect.equal(
            expect.object(answer.json, 'a diff is answered with an object')['truncated'],
            true,
            'a diff with a run that has not ended has truncated true',
          );
        else expect.envelope(answer, { status: [400, 409, 422] });
      }
      await runs.cancel(waiting);
      const { body } = await diffOf(context, ended, ended);
      expect.that(
        body['truncated'] !== true,
        'a diff of runs that have ended is not truncated',
        body['truncated'],
      );
    },
  },
  {
    id: 'diff/bad-requests',
    title: 'a diff needs a key and two runs',
    proves: ['DIFF-2', 'DIFF-3', 'DIFF-4'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      await served(context, await host.request('GET', diffPath(runId, runId)));

      expect.envelope(await host.request('GET', diffPath(runId, runId), { key: null }), { status: 401 });
      expect.envelope(await host.request('GET', `/v1/runs/${runId}:diff`), { status: 400 });
      expect.envelope(await host.request('GET', `/v1/runs/${runId}:diff?against=`), { status: 400 });
      const unknown = unique('no-such-run');
      expect.envelope(await host.request('GET', diffPath(runId, unknown)), { status: [404, 403] });
      expect.envelope(await host.request('GET', diffPath(unknown, runId)), { status: [404, 403] });
    },
  },
  {
    id: 'diff/other-tenant',
    title: 'a run of another tenant is not compared',
    proves: ['DIFF-5'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      await served(context, await host.request('GET', diffPath(runId, runId)));

      const answer = await host.request('GET', diffPath(runId, runId), { key: keys.otherTenant ?? null });

      const { error } = expect.envelope(answer, { status: [404, 403] });
      expect.that(
        answer.status === 404 || ['run_forbidden', 'forbidden'].includes(String(error)),
        'a caller who may not read a run gets run_forbidden, or 404',
        error,
      );
      expect.absent(answer.text, runId, 'the answer to another tenant does not name the run');
    },
  },
];

interface Difference {
  readonly seq: number;
  readonly op: string;
  readonly aEvent: Json | undefined;
  readonly bEvent: Json | undefined;
}

interface Diff {
  readonly a: string;
  readonly b: string;
  readonly text: string;
  readonly body: JsonObject;
  readonly differences: readonly Difference[];
}

function diffPath(a: string, b: string): string {
  return `/v1/runs/${a}:diff?against=${b}`;
}

/** Nothing advertises the endpoint: a host without it answers 404 for a run that it has. */
async function served<Given extends { readonly status: number }>(
  { notApplicable }: CheckContext,
  answer: Given,
): Promise<Given> {
  return answer.status === 404 ? notApplicable('the host does not serve :diff') : answer;
}

/** A diff of two runs that have ended, with the shape that every diff has. */
async function diffOf(context: CheckContext, a: string, b: string): Promise<Diff> {
  const { host, expect } = context;
  const answer = await served(context, await host.request('GET', diffPath(a, b)));
  expect.status(answer, 200);
  const body = expect.object(answer.json, 'a diff is answered with an object');
  const names = Object.keys(body);
  const extra = names.filter((name) => !MEMBERS.includes(name));
  expect.that(extra.length === 0, `a diff has no members but ${MEMBERS.join(', ')}`, extra);
  const missing = REQUIRED.filter((name) => !names.includes(name));
  expect.that(missing.length === 0, `a diff has ${REQUIRED.join(', ')}`, { missing });
  expect.equal(body['a'], a, 'a is the run of the path');
  expect.equal(body['b'], b, 'b is the run of against');
  expect.object(body['stateDiff'], 'stateDiff is an object');
  const differences = expect
    .array(body['eventDiffs'], 'eventDiffs is a list')
    .map((difference) => differenceOf(context, difference));
  const first = differences[0]?.seq ?? null;
  // It may be left out where there is nothing to say.
  expect.equal(
    body['divergedAtSeq'] ?? null,
    first,
    'divergedAtSeq is the sequence of the first difference, or null without one',
  );
  return { a, b, text: answer.text, body: { divergedAtSeq: null, ...body }, differences };
}

function differenceOf({ expect }: CheckContext, value: Json): Difference {
  const difference = expect.object(value, 'a difference is an object');
  const extra = Object.keys(difference).filter((name) => !DIFFERENCE_MEMBERS.includes(name));
  expect.that(extra.length === 0, `a difference has no members but ${DIFFERENCE_MEMBERS.join(', ')}`, extra);
  const seq = expect.integer(difference['seq'], 'a difference has a seq');
  expect.that(seq >= 0, 'the seq of a difference is not negative', seq);
  const op = expect.string(difference['op'], 'a difference has an op');
  expect.that(op in OPPOSITE, 'an op is added, removed or changed', op);
  const { aEvent, bEvent } = difference;
  expect.equal(
    { aEvent: isJsonObject(aEvent), bEvent: isJsonObject(bEvent) },
    { aEvent: op !== 'added', bEvent: op !== 'removed' },
    `a difference that is ${op} has the events of the runs that have it, and no other`,
  );
  return { seq, op, aEvent, bEvent };
}

/** Compares a diff with the two logs as they are polled. */
async function followsTheLogs({ runs, expect }: CheckContext, diff: Diff): Promise<void> {
  const logs = { a: await runs.events(diff.a), b: await runs.events(diff.b) };
  const sequences = diff.differences.map(({ seq }) => seq);
  expect.that(isRising(sequences), 'differences are in rising order, each sequence once', sequences);
  const reported = new Map(diff.differences.map(({ seq, op }) => [seq, op]));
  for (const [sequence, comparison] of comparisons(logs.a, logs.b)) {
    if (comparison === 'open') continue;
    const expected = comparison === 'equal' ? 'no difference' : comparison;
    const claim = `the diff says of sequence ${sequence} what the two logs say`;
    expect.equal(reported.get(sequence) ?? 'no difference', expected, claim);
  }
  for (const { seq, aEvent, bEvent } of diff.differences)
    for (const [name, event, log] of [
      ['aEvent', aEvent, logs.a],
      ['bEvent', bEvent, logs.b],
    ] as const)
      if (isJsonObject(event)) {
        const polled = log.find(({ sequence }) => sequence === seq);
        expect.equal(
          coreOf(event),
          polled && coreOf(polled),
          `${name} is the event of the log at its sequence`,
        );
      }
}

async function approvedRun(context: CheckContext): Promise<string> {
  const { runId } = await waitingRun(context);
  await approve(context, runId);
  await context.runs.ended(runId);
  return runId;
}
