import { isJsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer, RequestOptions } from '../../suite/host-client.ts';
import { CLOSED_REQUEST_CHECKS } from './closed-requests.ts';
import { ROUTE_CHECKS } from './routes.ts';

const HIDDEN = [403, 404];
/** The suites before this one took either for a body that is wrong. */
const REFUSED = [400, 422];

/** What can be asked of a run on every host. */
function requestsFor(runId: string): readonly (readonly [string, string, RequestOptions?])[] {
  const stream = { headers: { accept: 'text/event-stream' } };
  return [
    ['GET', `/v1/runs/${runId}`],
    ['GET', `/v1/runs/${runId}/events`],
    ['GET', `/v1/runs/${runId}/events`, stream],
    ['GET', `/v1/runs/${runId}/events/poll?timeout=1`],
    ['POST', `/v1/runs/${runId}/cancel`, { body: {} }],
    ['POST', `/v1/runs/${runId}/interrupts/gate`, { body: { resumeValue: { action: 'accept' } } }],
  ];
}

const WRONG_TYPES: readonly object[] = [
  { workflowId: 7 },
  { workflowId: null },
  { workflowId: 'conformance-noop', inputs: [] },
  { workflowId: 'conformance-noop', inputs: 'none' },
  { workflowId: 'conformance-noop', configurable: [] },
  { workflowId: 'conformance-noop', tags: 'one' },
  { workflowId: 'conformance-noop', tags: [1] },
  { workflowId: 'conformance-noop', metadata: 'none' },
];

const NOT_AN_OBJECT = ['{"workflowId":', 'workflowId=conformance-noop', '[]', '"conformance-noop"', 'null'];

const ENVELOPE_CHECKS: readonly Check[] = [
  {
    id: 'errors/envelope',
    title: 'an error has the three members of the envelope and no others',
    proves: ['ERR-1', 'ERR-2', 'ERR-3', 'ERR-4'],
    async run(context) {
      const { host, unique } = context;
      expectCode(context, await host.request('GET', `/v1/runs/${unique()}`), HIDDEN);
      expectCode(context, await host.request('POST', '/v1/runs', { body: {} }), REFUSED);
      expectCode(context, await host.request('POST', '/v1/runs', { body: {}, key: null }), [401]);
    },
  },
  {
    id: 'errors/json',
    title: 'errors are JSON, also where a stream was asked for',
    proves: ['ERR-5'],
    async run({ host, expect, unique }) {
      for (const accept of ['application/json', 'text/event-stream', '*/*']) {
        const answer = await host.request('GET', `/v1/runs/${unique()}/events`, { headers: { accept } });
        expect.envelope(answer, { status: HIDDEN });
        const type = expect.header(answer, 'content-type');
        expect.that(/^application\/json\b/i.test(type), 'an error is sent as application/json', type);
      }
    },
  },
  {
    id: 'errors/no-internals',
    title: 'messages show nothing of the implementation',
    proves: ['ERR-6'],
    async run({ host, expect, unique }) {
      const answers = [
        await host.request('POST', '/v1/runs', { rawBody: '{"workflowId":' }),
        await host.request('GET', `/v1/runs/${unique()}%00`),
        await host.request('GET', '/v1/runs/%ff'),
      ];

      for (const { status, text } of answers) {
        expect.that(status >= 400 && status < 500, 'a wrong request is the caller’s error', status);
        for (const trace of [
          /\bat .{1,200}:\d+:\d+/,
          /\bnode_modules\b/,
          /Traceback \(most recent/,
          /\bpanic: /,
        ])
          expect.that(!trace.test(text), 'an error shows no stack trace', text);
      }
    },
  },
];

const UNKNOWN_CHECKS: readonly Check[] = [
  {
    id: 'errors/unknown-run',
    title: 'an unknown run is answered with 404 or 403',
    proves: ['ERR-7'],
    async run({ host, expect, unique }) {
      for (const [method, path, options] of requestsFor(unique()))
        expect.envelope(await host.request(method, path, options), { status: HIDDEN });
    },
  },
  {
    id: 'errors/unknown-workflow',
    title: 'an unknown workflow is answered with 404 or 403',
    proves: ['ERR-8'],
    async run({ host, expect, unique }) {
      expect.envelope(await host.request('GET', `/v1/workflows/${unique()}`), { status: HIDDEN });
    },
  },
  {
    id: 'errors/unknown-artifact',
    title: 'an unknown artifact is answered with 404 or 403',
    proves: ['ERR-9'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect, unique }) {
      const runId = await runs.endedRun('conformance-noop');

      for (const id of [runId, unique()]) {
        const answer = await host.request('GET', `/v1/runs/${id}/artifacts/${unique()}`);
        expect.envelope(answer, { status: HIDDEN });
      }
    },
  },
  {
    id: 'errors/unknown-workflow-run',
    title: 'a run of an unknown workflow is refused, and the refusal does not repeat its id',
    proves: ['ERR-12', 'ERR-13'],
    async run({ runs, expect, unique }) {
      const marker = unique('canary');
      const answer = await runs.tryCreate(`eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.${marker}`);

      expect.envelope(answer, { status: [400, 403, 404, 422] });
      expect.absent(answer.text, marker, 'a refusal does not repeat the workflowId that was sent');
    },
  },
];

const BODY_CHECKS: readonly Check[] = [
  {
    id: 'errors/empty-run',
    title: 'a run needs a workflowId',
    proves: ['ERR-11'],
    async run({ host, expect }) {
      const answer = await host.request('POST', '/v1/runs', { body: {} });

      expect.envelope(answer, { status: REFUSED, code: 'validation_error' });
    },
  },
  {
    id: 'errors/malformed-json',
    title: 'a body that is not a JSON object is refused',
    proves: ['ERR-22'],
    async run({ host, expect }) {
      for (const rawBody of NOT_AN_OBJECT)
        expect.envelope(await host.request('POST', '/v1/runs', { rawBody }), { status: [...REFUSED, 415] });
    },
  },
  {
    id: 'errors/wrong-types',
    title: 'members of the wrong type are refused',
    proves: ['ERR-23'],
    async run({ host, expect }) {
      for (const body of WRONG_TYPES) {
        const answer = await host.request('POST', '/v1/runs', { body });
        expect.envelope(answer, { status: REFUSED, code: 'validation_error' });
      }
    },
  },
];

export const ERRORS_CHECKS: readonly Check[] = [
  ...ENVELOPE_CHECKS,
  ...UNKNOWN_CHECKS,
  ...BODY_CHECKS,
  ...CLOSED_REQUEST_CHECKS,
  ...ROUTE_CHECKS,
];

function expectCode({ expect }: CheckContext, answer: Answer, status: readonly number[]): void {
  const { json } = answer;
  if (isJsonObject(json) && 'error' in json)
    expect.that(!isJsonObject(json['error']), 'the error is a text, not an object', json['error']);
  const { error } = expect.envelope(answer, { status });
  expect.that(/^[a-z][a-z0-9_]*$/.test(String(error)), 'the error is a code in snake case', error);
}
