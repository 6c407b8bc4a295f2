import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import type { Check } from './check.ts';
import { requirementResults } from './outcome.ts';
import { runSuite } from './run-suite.ts';

it('a check that finds something optional missing does not apply, and proves nothing', async () => {
  const host = createServer((_, answer) => answer.writeHead(404).end());
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
  const address = host.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const check: Check = {
    id: 'diff/missing',
    title: 'the host has a diff',
    proves: ['DIFF-1'],
    async run({ host: client, expect: expectations, notApplicable }) {
      const { status } = await client.request('GET', '/v1/runs/one:diff?against=one');
      if (status === 404) return notApplicable('the host does not serve :diff');
      expectations.equal(status, 200, 'a diff is answered with 200');
      return undefined;
    },
  };

  const options = {
    keys: {},
    peers: {},
    policies: {},
    launcher: undefined,
    concurrency: 1,
    requestTimeoutMs: 2_000,
    key: undefined,
  };
  const url = `http://127.0.0.1:${port}`;
  const { results } = await runSuite({ ...options, url, discovery: {}, checks: [check] });
  host.close();

  expect(results).toMatchObject([{ outcome: 'not-applicable', reason: 'the host does not serve :diff' }]);
  const row = requirementResults({}, results).find(({ id }) => id === 'DIFF-1');
  expect(row).toMatchObject({ outcome: 'not-applicable', reason: 'the host does not serve :diff' });
});
