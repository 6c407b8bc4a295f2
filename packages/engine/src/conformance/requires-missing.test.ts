import { expect, it } from 'vitest';
import { requiresMissingNode } from './requires-missing.ts';
import { failureOf, sampleInput } from '../nodes/testing/sample-node-input.ts';

it('requires a capability that no host provides, and exists only for conformance', () => {
  expect(requiresMissingNode.requires).toEqual(['conformance.never-provided']);
  expect(requiresMissingNode.conformanceOnly).toBe(true);
});

it('fails with capability_not_provided should it ever run', () => {
  const failure = failureOf(() => requiresMissingNode.run(sampleInput(requiresMissingNode, {})));

  expect(failure.code).toBe('capability_not_provided');
  expect(failure.message).toContain('conformance.never-provided');
});
