import { expect, it } from 'vitest';
import { failNode } from './fail.ts';
import { failureOf, sampleInput } from './sample-node-input.ts';

it('fails with conformance_test_failure when its config says nothing else', () => {
  const failure = failureOf(() => failNode.run(sampleInput(failNode, {})));

  expect(failure).toMatchObject({ code: 'conformance_test_failure', retryable: false });
});

it('fails as its config says', () => {
  const config = { code: 'boom', message: 'Not today.', retryable: true };

  const failure = failureOf(() => failNode.run(sampleInput(failNode, { config })));

  expect(failure).toMatchObject(config);
});
