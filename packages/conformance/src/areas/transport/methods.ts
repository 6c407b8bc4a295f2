import { gzipSync } from 'node:zlib';
import type { Check } from '../../suite/check.ts';
import { advertised } from '../../requirements/gates.ts';

/** Of what makes an answer what it is. */
const SAME_HEADERS = ['content-type', 'etag'];
const OPTIONAL_SURFACES = {
  prompts: '/v1/prompts',
  content: '/v1/content/settings',
  workspace: '/v1/host/workspace/files',
};

/** What HTTP itself asks of every server. */
export const METHOD_CHECKS: readonly Check[] = [
  {
    id: 'transport/answers-say-their-language',
    title: 'every answer says its language',
    proves: ['HTTP-29'],
    async run({ host, expect, unique }) {
      for (const path of ['/.well-known/openwop', `/v1/runs/${unique()}`])
        expect.header(await host.request('GET', path), 'content-language');
    },
  },
  {
    id: 'transport/head',
    title: 'HEAD is GET without a body',
    proves: ['HTTP-30'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect, unique }) {
      const runId = await runs.endedRun('conformance-noop');

      for (const path of ['/.well-known/openwop', `/v1/runs/${runId}`, `/v1/runs/${unique()}`]) {
        const get = await host.request('GET', path);
        const head = await host.request('HEAD', path);
        expect.equal(head.status, get.status, `HEAD ${path} has the status of GET`);
        expect.equal(head.text, '', 'an answer to HEAD has no body');
        for (const name of SAME_HEADERS)
          expect.equal(head.headers.get(name), get.headers.get(name), `HEAD has the ${name} of GET`);
      }
    },
  },
  {
    id: 'transport/method-not-allowed',
    title: 'a method that a path does not have is refused, and those that it has are named',
    proves: ['HTTP-31'],
    async run({ host, expect }) {
      const answer = await host.request('DELETE', '/v1/runs');

      expect.envelope(answer, { status: [404, 405] });
      const methods = expect.header(answer, 'allow').split(/\s*,\s*/);
      expect.that(methods.includes('POST'), 'Allow names POST for /v1/runs', methods);
    },
  },
  {
    id: 'transport/gzipped-body',
    title: 'a gzipped body is read, or refused as such',
    proves: ['HTTP-32'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, expect }) {
      const answer = await host.request('POST', '/v1/runs', {
        rawBody: gzipSync(JSON.stringify({ workflowId: 'conformance-noop' })),
        headers: { 'content-encoding': 'gzip' },
      });

      if (answer.status === 201) return expect.status(answer, 201);
      expect.envelope(answer, { status: 415 });
    },
  },
  {
    id: 'transport/optional-surfaces',
    title: 'optional parts that a host does not have are not implemented, rather than not found',
    proves: ['HTTP-33'],
    async run({ discovery, host, expect }) {
      for (const [family, path] of Object.entries(OPTIONAL_SURFACES))
        if (advertised(discovery, family) === undefined)
          expect.envelope(await host.request('GET', path), { status: 501, code: 'capability_not_provided' });
    },
  },
];
