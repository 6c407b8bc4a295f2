import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BulkCancelRequestSchema, CancelRequestSchema, CreateRunSchema, RunSnapshotSchema } from './runs.ts';
import { RUN_STATUSES } from './run-statuses.ts';
import { compileValidator } from '../validation/validate.ts';

const createRun = compileValidator(CreateRunSchema);
const reference = '/work/shared/openwop/schemas/run-snapshot.schema.json';

describe('the body of a run creation', () => {
  it('takes fields of both halves of the composition', () => {
    const body = {
      workflowId: 'w',
      inputs: { a: 1 },
      tags: ['x'],
      metadata: { k: {} },
      configurable: { 'acme.x': 1 },
    };

    expect(createRun(body)).toEqual([]);
  });

  it('refuses an undeclared field, naming what was meant', () => {
    const [problem] = createRun({ workflowId: 'w', input: {} });

    expect(problem).toEqual({
      path: '/input',
      message: 'unknown field "input"; did you mean "inputs"?',
      keyword: 'unevaluatedProperties',
    });
  });

  it.each([
    [{ recursionLimit: 0 }],
    [{ recursionLimit: 1.5 }],
    [{ temperature: 2.1 }],
    [{ mockProvider: { id: 'a', extra: 1 } }],
    [{ runTimeoutMs: 'soon' }],
    [{ budget: { maxTokens: 0 } }],
  ])('refuses the configurable %j', (configurable) => {
    expect(createRun({ workflowId: 'w', configurable })).not.toEqual([]);
  });

  it('refuses too many or too long tags', () => {
    expect(createRun({ workflowId: 'w', tags: Array.from({ length: 101 }, () => 'x') })).not.toEqual([]);
    expect(createRun({ workflowId: 'w', tags: ['x'.repeat(257)] })).not.toEqual([]);
    expect(createRun({ workflowId: 'w', tags: [''] })).not.toEqual([]);
  });
});

describe('other run requests', () => {
  it('are closed', () => {
    expect(compileValidator(CancelRequestSchema)({ reson: 'x' })).toHaveLength(1);
    expect(compileValidator(BulkCancelRequestSchema)({ runIds: [] })).toHaveLength(1);
  });
});

describe('a snapshot', () => {
  it('may show cancelling and fields of extensions', () => {
    const snapshot = { runId: 'r', workflowId: 'w', status: 'cancelling', 'weft.imported': true };

    expect(compileValidator(RunSnapshotSchema)(snapshot)).toEqual([]);
  });
});

describe.runIf(existsSync(reference))('the reference snapshot schema', () => {
  it('has the same statuses and the same fields', () => {
    const { properties } = JSON.parse(readFileSync(reference, 'utf8')) as {
      properties: { status: { enum: string[] } };
    };

    expect(RUN_STATUSES.toSorted()).toEqual(properties.status.enum.toSorted());
    expect(Object.keys(RunSnapshotSchema.properties).toSorted()).toEqual(Object.keys(properties).toSorted());
  });
});
