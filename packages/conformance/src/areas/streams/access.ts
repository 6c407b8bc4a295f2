import type { Check } from '../../suite/check.ts';
import { coreOf } from '../events/log.ts';
import { streamOf } from './reading.ts';

const UNSUPPORTED = { status: 400, code: 'unsupported_stream_mode' } as const;

export const STREAM_ACCESS_CHECKS: readonly Check[] = [
  {
    id: 'streams/needs-a-key',
    title: 'a stream needs a key',
    proves: ['STREAM-2'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const headers = { accept: 'text/event-stream' };

      const answer = await host.request('GET', `/v1/runs/${runId}/events`, { key: null, headers });

      expect.envelope(answer, { status: 401 });
    },
  },
  {
    id: 'streams/unknown-mode',
    title: 'an unknown mode is rejected, and the error names those that are served',
    proves: ['STREAM-37', 'STREAM-38'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const path = `/v1/runs/${runId}/events?streamMode=no-such-mode`;
      for (const accept of ['application/json', 'text/event-stream']) {
        const answer = await host.request('GET', path, { headers: { accept } });

        const { details } = expect.envelope(answer, UNSUPPORTED);
        const supported = expect.array(
          expect.object(details, 'the error has details')['supported'],
          'details.supported lists the modes that are served',
        );
        for (const name of supported) expect.string(name, 'details.supported lists names');
        expect.that(supported.includes('updates'), 'details.supported lists updates', supported);
      }
    },
  },
  {
    id: 'streams/values-alone',
    title: 'values is mixed with no other mode',
    proves: ['STREAM-39'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      for (const modes of ['values,updates', 'updates,values', 'values,debug'])
        expect.envelope(
          await host.request('GET', `/v1/runs/${runId}/events?streamMode=${modes}`),
          UNSUPPORTED,
        );
    },
  },
  {
    id: 'streams/unknown-mode-in-a-list',
    title: 'a list with an unknown mode is rejected',
    proves: ['STREAM-40'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      for (const modes of ['updates,no-such-mode', 'no-such-mode,updates'])
        expect.envelope(
          await host.request('GET', `/v1/runs/${runId}/events?streamMode=${modes}`),
          UNSUPPORTED,
        );
    },
  },
  {
    id: 'streams/json-for-clients-without-streams',
    title: 'a client of JSON gets the whole log where the host negotiates',
    proves: ['STREAM-51'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { host, runs, expect, notApplicable } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const log = await runs.events(runId);

      const answer = await host.request('GET', `/v1/runs/${runId}/events`);

      const type = answer.headers.get('content-type') ?? '';
      if (answer.status === 406 || type.startsWith('text/event-stream'))
        return notApplicable('the host answers this path with streams alone');
      expect.status(answer, 200);
      const body = expect.object(answer.json, 'the log is answered as an object');
      const events = expect.array(body['events'], 'the log is answered as the list events');
      expect.equal(
        events.map((event) => coreOf(expect.object(event, 'an event is an object'))),
        log.map(coreOf),
        'a client of JSON gets every event of the log',
      );
      return undefined;
    },
  },
  {
    id: 'streams/order-of-validation',
    title: 'the key is looked at first, and parameters before what the client accepts',
    proves: ['STREAM-52'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const path = `/v1/runs/${runId}/events?streamMode=no-such-mode`;

      expect.envelope(await host.request('GET', path, { key: null }), { status: 401 });
      expect.envelope(await host.request('GET', path), UNSUPPORTED);
      expect.envelope(await host.request('GET', path, { headers: { 'last-event-id': '0' } }), UNSUPPORTED);
      expect.envelope(await host.request('GET', `/v1/runs/${runId}/events?bufferMs=5001`), { status: 400 });
    },
  },
  {
    id: 'streams/unknown-run',
    title: 'a run that does not exist has no stream',
    proves: ['STREAM-53'],
    async run({ host, expect, unique }) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const path = `/v1/runs/${unique('no-such-run')}/events`;

        const answer = await host.request('GET', path, { headers: { accept } });

        expect.envelope(answer, { status: [404, 403] });
      }
    },
  },
  {
    id: 'streams/other-tenant',
    title: 'a key of another tenant gets no stream',
    proves: ['STREAM-54'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      await streamOf(context, runId);
      for (const mode of ['updates', 'values', 'messages', 'debug']) {
        const path = `/v1/runs/${runId}/events?streamMode=${mode}`;
        const headers = { accept: 'text/event-stream' };

        const answer = await host.request('GET', path, { key: keys.otherTenant ?? null, headers });

        const allowed = mode === 'updates' ? [404, 403] : [404, 403, 400];
        expect.envelope(answer, { status: allowed });
        expect.absent(answer.text, runId, 'the answer to another tenant does not name the run');
      }
    },
  },
];
