import { isJsonObject, type JsonObject, type SseEvent } from '@weft/protocol';
import { answered, answeredWith, events, omit, status } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { ownersKey, sent } from '../../mutants/requests.ts';
import { DISCOVERY, RUNS, STREAM } from '../../mutants/targets.ts';

const ANNOTATIONS = { path: /\/annotations$/ };
const RECORD = { method: 'POST', path: /\/annotations$/ };
const LIST = { method: 'GET', path: /\/annotations$/ };

export const ANNOTATIONS_MUTANTS: readonly Mutant[] = [
  {
    id: 'annotations/served-unadvertised',
    breaks: 'annotations are served and not advertised',
    caughtBy: ['annotations/absent'],
    says: /status 501 or 404/,
    on: DISCOVERY,
    answer: withFeedback({ supported: false }),
  },
  {
    id: 'annotations/unknown-signal-advertised',
    breaks: 'a signal that the protocol does not know is advertised',
    caughtBy: ['annotations/advertised'],
    says: /feedback\.signals lists/,
    on: DISCOVERY,
    answer: withFeedback({ supported: true, signals: ['flag', 'applause'] }),
  },
  {
    id: 'annotations/answered-with-200',
    breaks: 'an annotation is answered with 200',
    caughtBy: ['annotations/recorded'],
    says: /status 201/,
    on: RECORD,
    answer: status(201, 200),
  },
  {
    id: 'annotations/no-actor',
    breaks: 'an annotation does not say who made it',
    caughtBy: ['annotations/recorded'],
    says: /has an actor/,
    on: RECORD,
    answer: recorded((body) => omit(body, 'actor')),
  },
  {
    id: 'annotations/vendor-member',
    breaks: 'an annotation has a member of the vendor',
    caughtBy: ['annotations/recorded'],
    says: /no members but annotationId/,
    on: RECORD,
    answer: recorded((annotation) => ({ ...annotation, tenant: 'one' })),
  },
  {
    id: 'annotations/no-run-in-target',
    breaks: 'the target does not name the run',
    caughtBy: ['annotations/recorded'],
    says: /target is the run of the path/,
    on: RECORD,
    answer: recorded((annotation) => ({ ...annotation, target: {} })),
  },
  {
    id: 'annotations/target-ignored',
    breaks: 'the node that a client names is forgotten',
    caughtBy: ['annotations/targets'],
    says: /target names the (node|event)/,
    on: RECORD,
    request: sent((body) => omit(body, 'target')),
  },
  {
    id: 'annotations/rating-changed',
    breaks: 'a rating is shown on a scale of 100',
    caughtBy: ['annotations/recorded'],
    says: /signal is as it was given/,
    on: RECORD,
    answer: recorded((annotation) => ({ ...annotation, signal: { kind: 'rating', rating: 80 } })),
  },
  {
    id: 'annotations/one-id-for-all',
    breaks: 'every annotation of a run has the same id',
    caughtBy: ['annotations/recorded'],
    says: /ids of their own/,
    on: RECORD,
    answer: recorded((annotation) => ({ ...annotation, annotationId: 'note' })),
  },
  {
    id: 'annotations/last-one-listed',
    breaks: 'an annotation replaces the one before',
    caughtBy: ['annotations/recorded'],
    says: /every annotation is listed/,
    on: LIST,
    answer: answered((list) =>
      Array.isArray(list['annotations']) ? { annotations: list['annotations'].slice(-1) } : list,
    ),
  },
  {
    id: 'annotations/list-with-a-cursor',
    breaks: 'the list has another member',
    caughtBy: ['annotations/recorded'],
    says: /no other member/,
    on: LIST,
    answer: answered((list) => ('annotations' in list ? { ...list, next: null } : list)),
  },
  {
    id: 'annotations/actor-accepted',
    breaks: 'a client may say who made an annotation',
    caughtBy: ['annotations/closed-bodies'],
    says: /status 400 or 422/,
    on: RECORD,
    request: sent((body) => omit(body, 'actor')),
  },
  {
    id: 'annotations/unknown-member-ignored',
    breaks: 'unknown members of an annotation are ignored',
    caughtBy: ['annotations/closed-bodies'],
    says: /status 400 or 422/,
    on: RECORD,
    request: sent((body) => omit(body, 'notes')),
  },
  {
    id: 'annotations/run-in-target-accepted',
    breaks: 'a client may name the run in the target',
    caughtBy: ['annotations/closed-bodies'],
    says: /status 400 or 422/,
    on: RECORD,
    request: sent((body) => omit(body, 'target')),
  },
  {
    id: 'annotations/rating-out-of-range',
    breaks: 'a rating above 5 is taken for 5',
    caughtBy: ['annotations/bad-signals'],
    says: /status 400 or 422/,
    on: RECORD,
    request: sent((asked) =>
      isJsonObject(asked['signal']) && asked['signal']['rating'] === 6
        ? { signal: { kind: 'rating', rating: 5 } }
        : asked,
    ),
  },
  {
    id: 'annotations/label-without-a-label',
    breaks: 'a label may be empty',
    caughtBy: ['annotations/bad-signals'],
    says: /status 400 or 422/,
    on: RECORD,
    request: sent((asked) =>
      isJsonObject(asked['signal']) && asked['signal']['kind'] === 'label'
        ? { signal: { kind: 'label', label: 'none' } }
        : asked,
    ),
  },
  {
    id: 'annotations/in-the-log',
    breaks: 'an annotation is an event of the log',
    caughtBy: ['annotations/outside-the-log', 'annotations/told-live'],
    says: /leaves the log as it was/,
    on: { path: /\/annotations$|\/events\/poll/ },
    answer: (answer, request, memory) => {
      const [, runId = ''] = /\/runs\/([^/]+)/.exec(request.path) ?? [];
      if (request.path.endsWith('/annotations')) memory.set(runId, true);
      if (request.path.endsWith('/annotations') || !memory.has(runId)) return answer;
      const change = events((all) => [...all, { type: 'run.annotated', sequence: 99 }]);
      return change(answer, request, memory);
    },
  },
  {
    id: 'annotations/forked',
    breaks: 'a fork inherits annotations',
    caughtBy: ['annotations/not-forked'],
    says: /no annotations of its source/,
    on: LIST,
    answer: answered(() => ({ annotations: [{ annotationId: 'inherited' }] })),
  },
  {
    id: 'annotations/not-told',
    breaks: 'streams do not tell of annotations',
    caughtBy: ['annotations/told-live'],
    says: /tells of an annotation by run\.annotated/,
    on: STREAM,
    frame: (event): readonly SseEvent[] => (event.event === 'run.annotated' ? [] : [event]),
  },
  {
    id: 'annotations/credential-shown',
    breaks: 'the answer shows a note as it came',
    caughtBy: ['annotations/credentials'],
    says: /credential in a note is masked/,
    on: RECORD,
    answer: (answer, request, memory) => {
      const asked = JSON.parse(request.body) as JsonObject;
      const change = recorded((annotation) => ({ ...annotation, note: asked['note'] ?? null }));
      return change(answer, request, memory);
    },
  },
  {
    id: 'annotations/open-to-all',
    breaks: 'annotations need no key',
    caughtBy: ['annotations/access'],
    says: /status 401/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'annotations/unknown-run-has-none',
    breaks: 'a run that does not exist has an empty list',
    caughtBy: ['annotations/access'],
    says: /status 404 or 403/,
    on: LIST,
    answer: status(404, 200),
  },
  {
    id: 'annotations/readers-may-annotate',
    breaks: 'a key that may only read annotates',
    caughtBy: ['annotations/scope'],
    says: /status 403/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'annotations/open-to-other-tenants',
    breaks: 'a key of another tenant lists annotations',
    caughtBy: ['annotations/other-tenant'],
    says: /status 404 or 403/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'annotations/rejected-with-500',
    breaks: 'a bad annotation is a 500',
    caughtBy: ['annotations/bad-signals', 'annotations/closed-bodies'],
    says: /status 400 or 422/,
    on: ANNOTATIONS,
    answer: status(400, 500),
  },
];

function recorded(change: (annotation: JsonObject) => JsonObject) {
  return answeredWith('annotationId', change);
}

/** Families are written twice; the one under `capabilities` is looked at second. */
function withFeedback(feedback: JsonObject) {
  return answered((discovery) => {
    const { capabilities } = discovery;
    return {
      ...discovery,
      feedback,
      ...(isJsonObject(capabilities) ? { capabilities: { ...capabilities, feedback } } : {}),
    };
  });
}
