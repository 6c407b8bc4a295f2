import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../json/json.ts';

/**
 * Documents as the protocol publishes them, in our own words and apart from the schemas that the host renders by: what it answers
 * is compared with these. Members that are not required are named without their type where nothing hangs on it.
 */
const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 0 };
const moment = { type: 'string', format: 'date-time' };
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });

function document(required: JsonObject, optional: JsonObject = {}, isOpen = false): JsonObject {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: isOpen,
  };
}

const OPEN = true;

const SHAPES = {
  annotation: document(
    {
      annotationId: text,
      target: document({ runId: text }, { eventId: text, nodeId: text }),
      signal: {
        anyOf: [
          document({ kind: { const: 'rating' }, rating: { type: 'integer', minimum: 1, maximum: 5 } }),
          document({ kind: { const: 'correction' }, correction: { type: 'string' } }),
          document({ kind: { const: 'label' }, label: { type: 'string' } }),
          document({ kind: { const: 'flag' } }),
        ],
      },
      actor: document({ principalRef: text }),
      createdAt: moment,
    },
    { note: { type: 'string' } },
  ),
  'audit-verify-result': document(
    {
      fromSeq: count,
      toSeq: count,
      chainValid: { type: 'boolean' },
      checkpoints: list(document({ checkpoint: text, atSequence: count, merkleRoot: text, signature: text })),
      anomalies: list(document({ atSeq: count, expectedPrevHash: text, actualPrevHash: { type: 'string' } })),
    },
    { checkpointsValid: { type: 'boolean' } },
  ),
  'run-diff-response': document(
    {
      a: { type: 'string' },
      b: { type: 'string' },
      eventDiffs: list(
        document(
          { seq: count, op: { enum: ['added', 'removed', 'changed'] } },
          { aEvent: { type: 'object' }, bEvent: { type: 'object' } },
        ),
      ),
      stateDiff: { type: 'object' },
    },
    { divergedAtSeq: orNull(count), truncated: { type: 'boolean' } },
  ),
  'debug-bundle': document(
    {
      bundleVersion: { type: 'string', pattern: '^[0-9]+\\.[0-9]+$' },
      generatedAt: moment,
      host: document({ name: text, version: text }, { vendor: { type: 'string' } }),
      run: document(
        {
          runId: text,
          workflowId: text,
          // An older list than that of snapshots: it has one way to wait for an answer, under another name.
          status: {
            enum: [
              'pending',
              'running',
              'completed',
              'failed',
              'cancelled',
              'waiting-approval',
              'waiting-clarification',
            ],
          },
        },
        {
          startedAt: moment,
          endedAt: orNull(moment),
          error: orNull(document({ code: text }, { message: { type: 'string' } }, OPEN)),
          inputs: { type: 'object' },
          variables: { type: 'object' },
          currentNodeId: orNull({ type: 'string' }),
          nodeStates: { type: 'object' },
          metrics: { type: 'object' },
        },
        OPEN,
      ),
      events: list(
        document(
          {},
          {
            sequence: orNull(count),
            seq: orNull(count),
            type: text,
            timestamp: moment,
            nodeId: orNull({ type: 'string' }),
          },
          OPEN,
        ),
      ),
      redactionApplied: { type: 'boolean' },
      redactionMode: { enum: ['mask', 'omit', 'hash', 'passthrough'] },
    },
    {
      spans: list(document({ name: text }, { startedAt: moment, endedAt: orNull(moment) }, OPEN)),
      metrics: document({}, { nodeCount: count, eventCount: count }, OPEN),
      truncated: { type: 'boolean' },
      truncatedReason: { type: 'string' },
    },
    OPEN,
  ),
} satisfies Record<string, JsonObject>;

/** To run one test for each: our statement of a shape, and the published schema where that is next to the checkout. */
export function publishedShapes(
  name: keyof typeof SHAPES,
): readonly (readonly [title: string, JsonObject])[] {
  const folder = process.env['WEFT_OPENWOP_DATA'];
  const ours = ['the published shape', SHAPES[name]] as const;
  if (folder === undefined) return [ours];
  const published = readFileSync(join(folder, 'schemas', `${name}.schema.json`), 'utf8');
  return [ours, ['extra check: the published schema', JSON.parse(published) as JsonObject]];
}
