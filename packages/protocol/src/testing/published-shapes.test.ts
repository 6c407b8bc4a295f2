import { describe, expect, it } from 'vitest';
import { compileClientSchema } from '../validation/client-schema/client-schema.ts';
import { WorkBudget } from '../validation/budget.ts';
import { publishedShapes } from './published-shapes.ts';

/** Close enough to be mistaken for the document: a shape that takes one of these would prove nothing. */
const NOT_QUITE = {
  annotation: {
    annotationId: 'a',
    target: { runId: 'r' },
    signal: { kind: 'rating' },
    actor: { principalRef: 'p' },
    createdAt: '2026-01-01T00:00:00Z',
  },
  'audit-verify-result': {
    fromSeq: 0,
    toSeq: 1,
    chainValid: true,
    checkpoints: [{ checkpoint: 'c', atSequence: 1, merkleRoot: 'm' }],
    anomalies: [],
  },
  'run-diff-response': { a: 'a', b: 'b', divergedAtSeq: null, eventDiffs: [], stateDiff: {}, equal: true },
  'debug-bundle': {
    bundleVersion: '1',
    generatedAt: '2026-01-01T00:00:00Z',
    host: { name: 'h', version: '1' },
    run: { runId: 'r', workflowId: 'w', status: 'completed' },
    events: [],
    redactionApplied: true,
    redactionMode: 'mask',
  },
};

describe.each(Object.keys(NOT_QUITE) as (keyof typeof NOT_QUITE)[])('%s', (name) => {
  it.each(publishedShapes(name))('%s refuses what is not quite one', (_, schema) => {
    const problems = compileClientSchema(schema)(NOT_QUITE[name], new WorkBudget());

    expect(problems).not.toEqual([]);
  });
});
