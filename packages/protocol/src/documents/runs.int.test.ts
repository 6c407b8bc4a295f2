import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BulkCancelRequestSchema, CancelRequestSchema, CreateRunSchema, RunSnapshotSchema } from './runs.ts';
import { RUN_STATUSES } from './run-statuses.ts';
import { compileValidator } from '../validation/validate.ts';

const createRun = compileValidator(CreateRunSchema);

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

/** What a snapshot may name, and where a run can be, as published. */
interface PublishedSnapshot {
  readonly fields: readonly string[];
  readonly statuses: readonly string[];
}

function snapshotIn(folder: string): PublishedSnapshot {
  const text = readFileSync(`${folder}/schemas/run-snapshot.schema.json`, 'utf8');
  const { properties } = JSON.parse(text) as { properties: { status: { enum: string[] } } };
  return { fields: Object.keys(properties), statuses: properties.status.enum };
}

const published = process.env['WEFT_OPENWOP_DATA'];
const SNAPSHOTS: readonly (readonly [string, PublishedSnapshot])[] = [
  [
    'the published snapshot',
    {
      fields: [
        ...['runId', 'workflowId', 'status', 'owner', 'currentNodeId', 'startedAt', 'completedAt'],
        ...['agent', 'runOrchestrator', 'nodeStates', 'variables', 'channels', 'error', 'metrics'],
        ...['engineVersion', 'eventLogSchemaVersion', 'tags', 'metadata', 'configurable'],
      ],
      statuses: [
        ...['pending', 'running', 'paused', 'waiting-approval', 'waiting-input', 'waiting-external'],
        ...['completed', 'failed', 'cancelling', 'cancelled'],
      ],
    },
  ],
  ...(published === undefined
    ? []
    : [['extra check: the published snapshot schema', snapshotIn(published)] as const]),
];

describe.each(SNAPSHOTS)('%s', (_, { fields, statuses }) => {
  it('has the same statuses and the same fields', () => {
    expect(RUN_STATUSES.toSorted()).toEqual(statuses.toSorted());
    expect(Object.keys(RunSnapshotSchema.properties).toSorted()).toEqual(fields.toSorted());
  });
});
