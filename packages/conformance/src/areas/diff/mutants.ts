import type { Json, JsonObject } from '@weft/protocol';
import { answeredWith, events, omit, status } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { counted, ownersKey, sentPath } from '../../mutants/requests.ts';
import { RUNS } from '../../mutants/targets.ts';
import { objectsOf } from '../../suite/json-shapes.ts';

const DIFF = { method: 'GET', path: /:diff/ };

export const DIFF_MUTANTS: readonly Mutant[] = [
  {
    id: 'diff/path-breaks',
    breaks: 'a diff is a 500',
    caughtBy: ['diff/served-or-absent'],
    says: /status 404/,
    on: DIFF,
    answer: status(200, 500),
  },
  {
    id: 'diff/unknown-member',
    breaks: 'a diff has a member of the vendor',
    caughtBy: ['diff/identical'],
    says: /no members but a, b/,
    on: DIFF,
    answer: changed((body) => ({ ...body, vendor: {} })),
  },
  {
    id: 'diff/no-state',
    breaks: 'a diff has no stateDiff',
    caughtBy: ['diff/identical'],
    says: /a diff has a, b, eventDiffs, stateDiff/,
    on: DIFF,
    answer: changed((body) => omit(body, 'stateDiff')),
  },
  {
    id: 'diff/runs-exchanged',
    breaks: 'a is the run of against',
    caughtBy: ['diff/two-workflows'],
    says: /a is the run of the path/,
    on: DIFF,
    answer: changed((body) => ({ ...body, a: body['b'] ?? null, b: body['a'] ?? null })),
  },
  {
    id: 'diff/identical-diverges',
    breaks: 'a run diverges from itself at 0',
    caughtBy: ['diff/identical'],
    says: /divergedAtSeq/,
    on: DIFF,
    answer: changed((body) => ({ ...body, divergedAtSeq: 0 })),
  },
  {
    id: 'diff/off-by-one',
    breaks: 'divergedAtSeq is one too large',
    caughtBy: ['diff/two-workflows', 'diff/branch'],
    says: /divergedAtSeq is the sequence of the first difference/,
    on: DIFF,
    answer: changed((body) => ({ ...body, divergedAtSeq: Number(body['divergedAtSeq']) + 1 })),
  },
  {
    id: 'diff/first-difference-alone',
    breaks: 'a diff stops at the first difference',
    caughtBy: ['diff/two-workflows', 'diff/branch'],
    says: /what the two logs say/,
    on: DIFF,
    answer: differences((list) => list.slice(0, 1)),
  },
  {
    id: 'diff/first-difference-lost',
    breaks: 'a diff begins with the second difference',
    caughtBy: ['diff/two-workflows', 'diff/branch'],
    says: /what the two logs say/,
    on: DIFF,
    answer: changed((body) => {
      const list = objectsOf(body['eventDiffs']).slice(1);
      return { ...body, eventDiffs: list, divergedAtSeq: list[0]?.['seq'] ?? null };
    }),
  },
  {
    id: 'diff/unordered',
    breaks: 'differences come in any order',
    caughtBy: ['diff/two-workflows'],
    says: /rising order/,
    on: DIFF,
    answer: differences(([first, ...others]) => (first === undefined ? [] : [first, ...others.toReversed()])),
  },
  {
    id: 'diff/everything-changed',
    breaks: 'ids and times count, so that every event differs',
    caughtBy: ['diff/two-runs-of-one-workflow'],
    says: /of sequence 0 what the two logs say/,
    on: DIFF,
    answer: changed((body) => ({
      ...body,
      divergedAtSeq: 0,
      eventDiffs: [{ seq: 0, op: 'changed', aEvent: {}, bEvent: {} }],
    })),
  },
  {
    id: 'diff/child-ids-do-not-count',
    breaks: 'a new childRunId is no difference',
    caughtBy: ['diff/ids-that-count'],
    says: /childRunId is another is a difference/,
    on: DIFF,
    answer: changed((body) => ({ ...body, divergedAtSeq: null, eventDiffs: [] })),
  },
  {
    id: 'diff/added-and-removed-exchanged',
    breaks: 'added means that a has it',
    caughtBy: ['diff/two-workflows'],
    says: /added has the events|removed has the events/,
    on: DIFF,
    answer: differences((list) => list.map((one) => ({ ...one, op: other(one['op']) }))),
  },
  {
    id: 'diff/unknown-op',
    breaks: 'an op is replaced',
    caughtBy: ['diff/two-workflows'],
    says: /added, removed or changed/,
    on: DIFF,
    answer: differences((list) => list.map((one) => ({ ...one, op: 'replaced' }))),
  },
  {
    id: 'diff/unknown-member-of-a-difference',
    breaks: 'a difference has a member more',
    caughtBy: ['diff/two-workflows'],
    says: /no members but seq, op/,
    on: DIFF,
    answer: differences((list) => list.map((one) => ({ ...one, path: '/payload' }))),
  },
  {
    id: 'diff/events-exchanged',
    breaks: 'aEvent is the event of b',
    caughtBy: ['diff/two-workflows'],
    says: /is the event of the log/,
    on: DIFF,
    answer: differences((list) =>
      list.map((one) =>
        one['op'] === 'changed'
          ? { ...one, aEvent: one['bEvent'] ?? null, bEvent: one['aEvent'] ?? null }
          : one,
      ),
    ),
  },
  {
    id: 'diff/resynchronized',
    breaks: 'logs are aligned by content, so that an equal tail is found again',
    caughtBy: ['diff/two-workflows'],
    says: /what the two logs say/,
    on: DIFF,
    answer: differences((list) => list.filter(({ op }) => op === 'changed')),
  },
  {
    id: 'diff/replay-diverges',
    breaks: 'a replay differs from its source at its end',
    caughtBy: ['diff/replay'],
    says: /a replay does not diverge/,
    on: DIFF,
    answer: changed((body) => ({
      ...body,
      divergedAtSeq: 7,
      eventDiffs: [{ seq: 7, op: 'changed', aEvent: {}, bEvent: {} }],
    })),
  },
  {
    id: 'diff/branch-diverges-early',
    breaks: 'a branch differs from its source before fromSeq',
    caughtBy: ['diff/branch'],
    says: /not differ from its source before fromSeq/,
    on: DIFF,
    answer: changed((body) => ({
      ...body,
      divergedAtSeq: 0,
      eventDiffs: [{ seq: 0, op: 'changed', aEvent: {}, bEvent: {} }, ...objectsOf(body['eventDiffs'])],
    })),
  },
  {
    id: 'diff/other-each-time',
    breaks: 'a diff counts its answers',
    caughtBy: ['diff/repeated', 'diff/same-bytes'],
    says: /asked again has the same answer/,
    on: DIFF,
    answer: (answer, request, memory) => {
      const count = counted(memory, 'answers');
      return changed((body) => ({ ...body, stateDiff: { status: { a: count, b: 0 } } }))(
        answer,
        request,
        memory,
      );
    },
  },
  {
    id: 'diff/other-bytes-each-time',
    breaks: 'the members of a diff come in any order',
    caughtBy: ['diff/same-bytes'],
    says: /the same bytes/,
    on: DIFF,
    answer: (answer, request, memory) => {
      const isFirst = memory.get('asked') === undefined;
      memory.set('asked', true);
      return isFirst
        ? answer
        : changed((body) => Object.fromEntries(Object.entries(body).toReversed()))(answer, request, memory);
    },
  },
  {
    id: 'diff/writes-to-the-log',
    breaks: 'a diff leaves an event in the log',
    caughtBy: ['diff/repeated'],
    says: /leaves both logs as they were/,
    on: { method: 'GET', path: /:diff|\/events\/poll/ },
    answer: (answer, request, memory) => {
      if (request.path.includes(':diff')) memory.set('compared', true);
      if (request.path.includes(':diff') || memory.get('compared') === undefined) return answer;
      return events((all) => [...all, { type: 'run.compared', sequence: 99 }])(answer, request, memory);
    },
  },
  {
    id: 'diff/equal-states',
    breaks: 'stateDiff is always empty',
    caughtBy: ['diff/two-workflows', 'diff/state'],
    says: /final statuses differ/,
    on: DIFF,
    answer: changed((body) => ({ ...body, stateDiff: {} })),
  },
  {
    id: 'diff/leaked-input',
    breaks: 'stateDiff shows an input of the shape of a key',
    caughtBy: ['diff/state'],
    says: /carries no credential/,
    on: RUNS,
    request: (request, memory) => {
      const secret = /sk-\w+/.exec(request.body)?.[0];
      if (secret !== undefined) memory.set('secret', secret);
      return request;
    },
    answer: (answer, request, memory) =>
      request.path.includes(':diff')
        ? { ...answer, body: answer.body.replace('[REDACTED]', String(memory.get('secret'))) }
        : answer,
  },
  {
    id: 'diff/unfinished-unmarked',
    breaks: 'a diff with a run that has not ended is not marked',
    caughtBy: ['diff/unfinished'],
    says: /has truncated true/,
    on: DIFF,
    answer: changed((body) => omit(body, 'truncated')),
  },
  {
    id: 'diff/always-truncated',
    breaks: 'every diff is said to be truncated',
    caughtBy: ['diff/unfinished'],
    says: /runs that have ended is not truncated/,
    on: DIFF,
    answer: changed((body) => ({ ...body, truncated: true })),
  },
  {
    id: 'diff/compares-with-itself',
    breaks: 'without against a run is compared with itself',
    caughtBy: ['diff/bad-requests'],
    says: /status 400/,
    on: DIFF,
    request: sentPath((asked) => asked.replace(/(runs\/([^:]+):diff)(\?against=)?$/, '$1?against=$2')),
  },
  {
    id: 'diff/unknown-run-is-empty',
    breaks: 'a run that does not exist has an empty log',
    caughtBy: ['diff/bad-requests'],
    says: /status 404 or 403/,
    on: { method: 'GET', path: /:diff.*no-such-run|no-such-run.*:diff/ },
    answer: status(404, 200),
  },
  {
    id: 'diff/open-to-other-tenants',
    breaks: 'a key of another tenant may compare',
    caughtBy: ['diff/other-tenant'],
    says: /status 404 or 403/,
    on: RUNS,
    request: ownersKey,
  },
];

function changed(change: (body: JsonObject) => JsonObject) {
  return answeredWith('eventDiffs', change);
}

function differences(change: (list: JsonObject[]) => JsonObject[]) {
  return changed((body) => ({ ...body, eventDiffs: change(objectsOf(body['eventDiffs'])) }));
}

function other(op: Json | undefined): Json {
  if (op === 'added') return 'removed';
  return op === 'removed' ? 'added' : (op ?? null);
}
