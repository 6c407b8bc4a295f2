import type { Json, JsonObject } from '@weft/protocol';
import { advertised, GATES } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { typesOf } from '../events/log.ts';
import { canary } from '../secrets/canaries.ts';
import { approve, documentOf, nextWithin, openStream, readToEnd, waitingRun } from '../streams/reading.ts';

const TARGETS = ['run', 'event', 'node'];
const SIGNALS: Readonly<Record<string, JsonObject>> = {
  rating: { kind: 'rating', rating: 4 },
  correction: { kind: 'correction', correction: 'it should have said so' },
  label: { kind: 'label', label: 'worth a look' },
  flag: { kind: 'flag' },
};
const MEMBERS = ['annotationId', 'target', 'signal', 'actor', 'note', 'createdAt'];
const TOLD_WITHIN_MS = 2_000;

export const ANNOTATIONS_CHECKS: readonly Check[] = [
  {
    id: 'annotations/absent',
    title: 'a host without annotations answers their path with 501, or with 404',
    proves: ['NOTE-1'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const path = annotationsPath(await context.runs.endedRun('conformance-noop'));
      const absent = { status: [501, 404], code: ['capability_not_provided', 'not_found'] };

      expect.envelope(await host.request('GET', path), absent);
      expect.envelope(await host.request('POST', path, { body: { signal: { kind: 'flag' } } }), absent);
    },
  },
  {
    id: 'annotations/advertised',
    title: 'targets and signals are advertised by their names',
    proves: ['NOTE-2'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop');
      const discovery = expect.object(answer.json, 'discovery is an object');
      expect.equal(advertised(discovery, 'feedback.supported'), true, 'feedback.supported is true');
      for (const [name, known] of [
        ['targets', TARGETS],
        ['signals', Object.keys(SIGNALS)],
      ] as const) {
        const listed = advertised(discovery, `feedback.${name}`);
        if (listed === undefined) continue;

        const strange = expect
          .array(listed, `feedback.${name} is a list`)
          .filter((value) => !known.includes(String(value)));

        expect.that(strange.length === 0, `feedback.${name} lists ${known.join(', ')} alone`, strange);
      }
    },
  },
  {
    id: 'annotations/recorded',
    title: 'an annotation of every kind is recorded and listed',
    proves: ['NOTE-3', 'NOTE-4', 'NOTE-9'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const recorded: JsonObject[] = [];
      for (const kind of signalsOf(context)) {
        const signal = SIGNALS[kind] ?? { kind };
        const note = unique('note');

        const annotation = await annotate(context, runId, { signal, note });

        expect.equal(annotation['target'], { runId }, 'the target is the run of the path');
        expect.equal(annotation['signal'], signal, 'the signal is as it was given');
        expect.equal(annotation['note'], note, 'the note is as it was given');
        recorded.push(annotation);
      }
      const ids = recorded.map(({ annotationId }) => annotationId);
      expect.equal(new Set(ids).size, ids.length, 'annotations have ids of their own');
      const list = await host.request('GET', annotationsPath(runId));
      expect.status(list, 200);
      const body = expect.object(list.json, 'annotations are answered with an object');
      expect.equal(Object.keys(body), ['annotations'], 'the answer has annotations and no other member');
      expect.equal(
        byId(expect.array(body['annotations'], 'annotations is a list')),
        byId(recorded),
        'every annotation is listed as it was answered',
      );
    },
  },
  {
    id: 'annotations/targets',
    title: 'an event or a node can be annotated',
    proves: ['NOTE-4'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect, discovery, notApplicable } = context;
      const listed = advertised(discovery, 'feedback.targets');
      const targets = Array.isArray(listed) ? listed : ['run'];
      if (!targets.includes('event') && !targets.includes('node'))
        return notApplicable('the host advertises runs as the only targets of annotations');
      const runId = await context.runs.endedRun('conformance-noop');
      const eventId = (await runs.events(runId))[0]?.['eventId'] ?? null;
      const signal = SIGNALS[signalsOf(context)[0] ?? 'flag'];
      for (const [name, target] of [
        ['event', { eventId }],
        ['node', { nodeId: 'noop' }],
      ] as const)
        if (targets.includes(name)) {
          const annotation = await annotate(context, runId, { signal, target });

          expect.equal(annotation['target'], { runId, ...target }, `the target names the ${name}`);
        }
      return undefined;
    },
  },
  {
    id: 'annotations/closed-bodies',
    title: 'unknown members are rejected',
    proves: ['NOTE-5', 'NOTE-6'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');
      const signal = SIGNALS['flag'];
      for (const body of [
        { signal, actor: { principalRef: 'someone else' } },
        { signal, annotationId: 'mine' },
        { signal, notes: 'a typo' },
        { signal: { kind: 'flag', colour: 'red' } },
        { signal, target: { runId } },
        { signal, target: { step: 1 } },
      ])
        await rejected(context, runId, body);
    },
  },
  {
    id: 'annotations/bad-signals',
    title: 'a signal has its kind and what its kind asks for',
    proves: ['NOTE-7'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');
      for (const signal of [
        undefined,
        {},
        { kind: 'applause' },
        { kind: 'rating' },
        { kind: 'rating', rating: 0 },
        { kind: 'rating', rating: 6 },
        { kind: 'rating', rating: 2.5 },
        { kind: 'rating', rating: '5' },
        { kind: 'label' },
        { kind: 'correction' },
      ])
        await rejected(context, runId, signal === undefined ? { note: 'no signal' } : { signal });
    },
  },
  {
    id: 'annotations/outside-the-log',
    title: 'an annotation changes neither log nor run',
    proves: ['NOTE-10'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const before = { run: await runs.snapshot(runId), log: await runs.events(runId) };

      await annotate(context, runId, { signal: SIGNALS[signalsOf(context)[0] ?? 'flag'] });

      const after = { run: await runs.snapshot(runId), log: await runs.events(runId) };
      expect.equal(after.log, before.log, 'an annotation leaves the log as it was');
      for (const name of ['status', 'variables', 'nodeStates', 'channels'])
        expect.equal(after.run[name], before.run[name], `an annotation leaves the ${name} of the run`);
    },
  },
  {
    id: 'annotations/not-forked',
    title: 'a fork has no annotations of its source',
    proves: ['NOTE-11'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, runs, expect, discovery, notApplicable } = context;
      if (!GATES.forks.isOpen(discovery)) return notApplicable('the host does not fork');
      const source = await context.runs.endedRun('conformance-noop');
      await annotate(context, source, { signal: SIGNALS[signalsOf(context)[0] ?? 'flag'] });
      const modes = advertised(discovery, 'replay.modes');
      const mode = Array.isArray(modes) ? modes[0] : 'replay';
      const forked = await runs.fork(source, { mode, fromSeq: 0 });
      expect.status(forked, 201);
      const { runId } = expect.object(forked.json, 'a fork is answered with an object');
      await runs.ended(String(runId));

      const list = await host.request('GET', annotationsPath(String(runId)));

      expect.status(list, 200);
      const { annotations } = expect.object(list.json, 'annotations are answered with an object');
      expect.equal(annotations, [], 'a fork has no annotations of its source');
    },
  },
  {
    id: 'annotations/told-live',
    title: 'an annotation is reported on the streams of an active run, and kept out of its log',
    proves: ['NOTE-12'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context);
      for (const mode of ['updates', 'debug']) {
        const stream = await openStream(context, runId, `?streamMode=${mode}`);
        // What was there is read first: a stream that has begun to send is attached.
        await nextWithin(context, stream, 'a stream begins with what has happened', TOLD_WITHIN_MS);
        const annotation = await annotate(context, runId, {
          signal: SIGNALS[signalsOf(context)[0] ?? 'flag'],
        });

        const claim = `a stream of ${mode} tells of an annotation by run.annotated`;
        let event = await nextWithin(context, stream, claim, TOLD_WITHIN_MS);
        while (event !== undefined && event.name !== 'run.annotated')
          event = await nextWithin(context, stream, claim, TOLD_WITHIN_MS);

        expect.that(event !== undefined, claim, 'the end of the stream');
        const shown = event === undefined ? {} : documentOf(context, event);
        expect.that(
          JSON.stringify(shown).includes(String(annotation['annotationId'])),
          'run.annotated names the annotation',
          shown,
        );
        await stream.close();
      }
      const live = typesOf(await context.runs.eventsSoFar(runId));
      expect.that(!live.includes('run.annotated'), 'run.annotated stays out of the log', live);
      const stream = await openStream(context, runId);
      await approve(context, runId);
      await readToEnd(context, stream);
      const types = typesOf(await runs.events(runId));
      expect.that(!types.includes('run.annotated'), 'run.annotated stays out of the log', types);
    },
  },
  {
    id: 'annotations/credentials',
    title: 'credentials in annotations are masked',
    proves: ['NOTE-13'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const [inNote, inCorrection] = [canary('openai').value, canary('openai').value];
      const signal = signalsOf(context).includes('correction')
        ? { kind: 'correction', correction: `use ${inCorrection} here` }
        : SIGNALS[signalsOf(context)[0] ?? 'flag'];
      const body = { signal, note: `the key is ${inNote}` };

      const recorded = await host.request('POST', annotationsPath(runId), { body });
      const listed = await host.request('GET', annotationsPath(runId));

      expect.status(recorded, 201);
      expect.status(listed, 200);
      for (const { text } of [recorded, listed]) {
        expect.absent(text, inNote, 'a credential in a note is masked');
        expect.absent(text, inCorrection, 'a credential in a correction is masked');
      }
    },
  },
  {
    id: 'annotations/access',
    title: 'annotations need a key and a run',
    proves: ['NOTE-14'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const path = annotationsPath(await context.runs.endedRun('conformance-noop'));
      const unknown = annotationsPath(unique('no-such-run'));
      const body = { signal: { kind: 'flag' } };

      expect.envelope(await host.request('GET', path, { key: null }), { status: 401 });
      expect.envelope(await host.request('POST', path, { key: null, body }), { status: 401 });
      expect.envelope(await host.request('GET', unknown), { status: [404, 403] });
      expect.envelope(await host.request('POST', unknown, { body }), { status: [404, 403] });
    },
  },
  {
    id: 'annotations/scope',
    title: 'a key that may only read runs lists annotations and makes none',
    proves: ['NOTE-15'],
    needs: { fixtures: ['conformance-noop'], key: 'lowScope' },
    async run(context) {
      const { host, expect, keys } = context;
      const path = annotationsPath(await context.runs.endedRun('conformance-noop'));
      const key = keys.lowScope ?? null;

      expect.status(await host.request('GET', path, { key }), 200);
      expect.envelope(await host.request('POST', path, { key, body: { signal: { kind: 'flag' } } }), {
        status: 403,
      });
    },
  },
  {
    id: 'annotations/other-tenant',
    title: 'a key of another tenant has nothing to do with annotations of a run',
    proves: ['NOTE-16'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const path = annotationsPath(runId);
      const key = keys.otherTenant ?? null;
      const body = { signal: { kind: 'flag' } };

      for (const answer of [
        await host.request('GET', path, { key }),
        await host.request('POST', path, { key, body }),
      ]) {
        expect.envelope(answer, { status: [404, 403] });
        expect.absent(answer.text, runId, 'the answer to another tenant does not name the run');
      }
    },
  },
];

function annotationsPath(runId: string): string {
  return `/v1/runs/${runId}/annotations`;
}

/** The kinds that the host takes; without a list it takes all. */
function signalsOf({ discovery }: CheckContext): string[] {
  const listed = advertised(discovery, 'feedback.signals');
  return Array.isArray(listed) ? listed.filter((kind) => typeof kind === 'string') : Object.keys(SIGNALS);
}

/** Records an annotation, and looks at the shape that each has. */
async function annotate({ host, expect }: CheckContext, runId: string, body: object): Promise<JsonObject> {
  const answer = await host.request('POST', annotationsPath(runId), { body });
  expect.status(answer, 201);
  const annotation = expect.object(answer.json, 'an annotation is answered with an object');
  expect.string(annotation['annotationId'], 'an annotation has an annotationId');
  const actor = expect.object(annotation['actor'], 'an annotation has an actor');
  expect.string(actor['principalRef'], 'the actor has a principalRef');
  const createdAt = expect.string(annotation['createdAt'], 'an annotation has a createdAt');
  expect.that(!Number.isNaN(Date.parse(createdAt)), 'createdAt is a date and time', createdAt);
  const extra = Object.keys(annotation).filter((name) => !MEMBERS.includes(name));
  expect.that(extra.length === 0, `an annotation has no members but ${MEMBERS.join(', ')}`, extra);
  return annotation;
}

async function rejected({ host, expect }: CheckContext, runId: string, body: object): Promise<void> {
  expect.envelope(await host.request('POST', annotationsPath(runId), { body }), { status: [400, 422] });
}

/** Annotations by their ids: the order of a list is the host's own. */
function byId(annotations: readonly Json[]): JsonObject {
  return Object.fromEntries(
    annotations.map((annotation) => [
      String((annotation as JsonObject | null)?.['annotationId']),
      annotation,
    ]),
  );
}
