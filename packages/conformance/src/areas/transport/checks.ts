import { advertised, configurableMaximum } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { HostFault } from '../../suite/host-fault.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { LANGUAGE_CHECKS } from './languages.ts';
import { METHOD_CHECKS } from './methods.ts';
import { OVERLOAD_CHECKS } from './overload.ts';

/** Compressed by any host that compresses at all. */
const LONG_TEXT = 'All work and no play makes a long payload. '.repeat(1_000);
/** Those that the suite's own HTTP client can decode. */
const DECODABLE = ['gzip', 'br'];
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

const READ_CHECKS: readonly Check[] = [
  {
    id: 'transport/media-type',
    title: 'what is JSON is sent as JSON',
    proves: ['HTTP-1'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, runs, expect } = context;
      const created = await runs.tryCreate('conformance-noop');
      const { runId } = expect.object(created.json, 'a created run is answered with an object');
      const id = expect.string(runId, 'a created run has a runId');
      await runs.ended(id);

      expectJson(context, created, 201);
      expectJson(context, await host.request('GET', `/v1/runs/${id}`));
      expectJson(context, await host.request('GET', `/v1/runs/${id}/events/poll?timeout=1`));
      expectJson(context, await host.request('GET', '/v1/workflows/conformance-noop'));
    },
  },
  {
    id: 'transport/not-modified',
    title: 'a run that a reader has is not sent again',
    proves: ['HTTP-2', 'HTTP-3'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect }) {
      const runId = await runs.endedRun('conformance-noop');
      const path = `/v1/runs/${runId}`;
      const first = await host.request('GET', path);
      const etag = expect.header(first, 'etag');

      expect.that(/^"[^"]*"$/.test(etag), 'the ETag of a run is a strong one', etag);
      const second = await host.request('GET', path);
      expect.equal(second.headers.get('etag'), etag, 'a run that has ended keeps its ETag');
      for (const known of [etag, `"weft-other", ${etag}`]) {
        const answer = await host.request('GET', path, { headers: { 'if-none-match': known } });
        expect.status(answer, 304);
        expect.equal(answer.text, '', 'an answer with 304 has no body');
      }
      const other = await host.request('GET', path, { headers: { 'if-none-match': '"weft-other"' } });
      expect.status(other, 200);
    },
  },
  {
    id: 'transport/modified',
    title: 'a run that has changed is sent again',
    proves: ['HTTP-4'],
    needs: { fixtures: ['conformance-approval'] },
    async run({ host, runs, expect }) {
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');
      const path = `/v1/runs/${runId}`;
      const etag = expect.header(await host.request('GET', path), 'etag');
      expect.status(await runs.resolve(runId, 'gate', { action: 'accept' }), 200);
      await runs.ended(runId);

      const answer = await host.request('GET', path, { headers: { 'if-none-match': etag } });
      expect.status(answer, 200);
      expect.that(answer.headers.get('etag') !== etag, 'a run that has changed has another ETag', etag);
    },
  },
  {
    id: 'transport/plain',
    title: 'a reader who asks for nothing special gets a plain answer',
    proves: ['HTTP-5'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect }) {
      const runId = await runs.endedRun('conformance-noop');
      const answer = await host.request('GET', `/v1/runs/${runId}`, {
        headers: { 'accept-encoding': 'identity' },
      });

      expect.status(answer, 200);
      const encoding = answer.headers.get('content-encoding') ?? 'identity';
      expect.equal(encoding, 'identity', 'an answer to Accept-Encoding: identity is not encoded');
    },
  },
  {
    id: 'transport/encodings',
    title: 'encodings that are advertised are served, and change nothing but the encoding',
    proves: ['HTTP-6', 'HTTP-7'],
    needs: { fixtures: ['conformance-identity'] },
    async run({ discovery, host, runs, expect }) {
      const runId = await runs.endedRun('conformance-identity', { inputs: { payload: { text: LONG_TEXT } } });
      const read = (encoding: string): Promise<Answer> =>
        host.request('GET', `/v1/runs/${runId}`, { headers: { 'accept-encoding': encoding } });
      const plain = await read('identity');

      const all = expect.array(advertised(discovery, 'restTransport.contentEncodings'), 'it is a list');
      for (const encoding of DECODABLE.filter((name) => all.includes(name))) {
        const answer = await read(encoding);
        expect.status(answer, 200);
        expect.equal(answer.headers.get('content-encoding'), encoding, `${encoding} is served on request`);
        const vary = expect.header(answer, 'vary');
        expect.that(/\baccept-encoding\b|^\*$/i.test(vary), 'Vary has Accept-Encoding', vary);
        expect.equal(answer.json, plain.json, 'a decoded run is the same as a plain one');
      }
    },
  },
];

const REQUEST_CHECKS: readonly Check[] = [
  {
    id: 'transport/body-too-large',
    title: 'a body larger than the advertised limit is refused, one of just the limit is not',
    proves: ['HTTP-20', 'HTTP-21'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { discovery, host, expect } = context;
      const limit = expect.integer(advertised(discovery, 'limits.maxRequestBodyBytes'), 'the limit is whole');

      const fitting = await host.request('POST', '/v1/runs', { rawBody: bodyOf(limit) });
      expect.that(fitting.status !== 413, 'a body of the limit is not too large', fitting.status);
      const refusal = await refusalOf(host.request('POST', '/v1/runs', { rawBody: bodyOf(limit + 1) }));
      if (refusal !== undefined) expect.envelope(refusal, { status: [400, 413, 422] });
      expect.status(await host.request('GET', '/.well-known/openwop'), 200);
    },
  },
  {
    id: 'transport/traceparent',
    title: 'trace headers are accepted, and an answer that has them continues the trace',
    proves: ['HTTP-22'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const headers = { traceparent: TRACEPARENT, tracestate: 'acme=1' };
      const answer = await runs.tryCreate('conformance-noop', {}, { headers });

      expect.status(answer, 201);
      const own = answer.headers.get('traceparent');
      expect.that(
        own === null || own.split('-')[1] === TRACE_ID,
        'a traceparent of the answer is of the same trace',
        own,
        TRACE_ID,
      );
    },
  },
  {
    id: 'transport/malformed-traceparent',
    title: 'a malformed traceparent is not an error, and a good one no credential',
    proves: ['HTTP-23'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      for (const traceparent of ['none', '00-0-0-00', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`])
        expect.status(await runs.tryCreate('conformance-noop', {}, { headers: { traceparent } }), 201);
      const headers = { traceparent: TRACEPARENT };
      expect.envelope(await runs.tryCreate('conformance-noop', {}, { headers, key: null }), { status: 401 });
    },
  },
];

const CONFIGURABLE_CHECKS: readonly Check[] = [
  {
    id: 'transport/configurable-schema',
    title: 'a workflow shows what it can be configured with, and nothing else is accepted',
    proves: ['HTTP-24', 'HTTP-25'],
    needs: { fixtures: ['conformance-configurable-schema'] },
    async run({ host, runs, expect, unique }) {
      const workflow = await host.request('GET', '/v1/workflows/conformance-configurable-schema');
      expect.status(workflow, 200);
      const { configurableSchema } = objectOf(workflow.json);
      expect.object(configurableSchema, 'the workflow is answered with its configurableSchema');

      const configurable = { [unique('unknown')]: true };
      const answer = await runs.tryCreate('conformance-configurable-schema', { configurable });
      expect.envelope(answer, { status: [400, 422], code: 'validation_error' });
    },
  },
  {
    id: 'transport/configurable-maximum',
    title: 'a value above its advertised maximum is refused',
    proves: ['HTTP-26'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ discovery, runs, expect }) {
      const { key = '', max = 0 } = configurableMaximum(discovery) ?? {};
      const answer = await runs.tryCreate('conformance-noop', { configurable: { [key]: max + 1 } });

      expect.envelope(answer, { status: [400, 422] });
    },
  },
];

export const TRANSPORT_CHECKS: readonly Check[] = [
  ...READ_CHECKS,
  ...LANGUAGE_CHECKS,
  ...REQUEST_CHECKS,
  ...OVERLOAD_CHECKS,
  ...METHOD_CHECKS,
  ...CONFIGURABLE_CHECKS,
];

function expectJson({ expect }: CheckContext, answer: Answer, status = 200): void {
  expect.status(answer, status);
  const type = expect.header(answer, 'content-type');
  expect.that(/^application\/json\b/i.test(type), `${answer.request.path} is sent as application/json`, type);
}

/** A request for a run that is exactly as long. */
function bodyOf(bytes: number): string {
  const [head, tail] = ['{"workflowId":"conformance-noop","inputs":{"text":"', '"}}'];
  return `${head}${'a'.repeat(Math.max(0, bytes - head.length - tail.length))}${tail}`;
}

/** A host may close the connection in the middle of a body that is too large. */
async function refusalOf(request: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof HostFault && error.kind === 'broken') return undefined;
    throw error;
  }
}
