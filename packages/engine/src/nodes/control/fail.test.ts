import { expect, it } from 'vitest';
import { NodeFailure } from '../../model/node-type.ts';
import { failNode } from './fail.ts';
import { failureOf, sampleInput } from '../testing/sample-node-input.ts';

it('fails with conformance_test_failure when its config says nothing else', () => {
  const failure = failureOf(() => failNode.run(sampleInput(failNode, {})));

  expect(failure).toMatchObject({ code: 'conformance_test_failure', retryable: false });
});

it('fails as its config says', () => {
  const config = { code: 'boom', message: 'Not today.', retryable: true };

  const failure = failureOf(() => failNode.run(sampleInput(failNode, { config })));

  expect(failure).toMatchObject(config);
});

it.each(['d\0x', 'd\u001b', 'd\u202e', 'd\ud800'])(
  'has no code that is no name, wherever it came from: %j',
  (code) => {
    expect(new NodeFailure(code, 'Not today.')).toMatchObject({ code: 'node_failed', message: 'Not today.' });
  },
);
