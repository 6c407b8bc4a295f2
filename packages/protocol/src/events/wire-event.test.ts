import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunEventDocSchema } from './events.ts';
import { compileValidator } from '../validation/validate.ts';
import { assembleWireEvent } from './wire-event.ts';

const validate = compileValidator(RunEventDocSchema);

describe('a wire event', () => {
  it('is the document, in a fixed order of keys, with the payload as it was stored', () => {
    const text = assembleWireEvent({
      runId: 'r1',
      seq: 4,
      type: 'node.completed',
      at: 0,
      nodeId: 'a"b',
      causeSeq: 2,
      payloadText: '{ "nodeId":1e2 }',
      engineVersion: 3,
    });

    expect(text).toContain('"payload":{ "nodeId":1e2 }}');
    expect(Object.entries(JSON.parse(text))).toEqual([
      ['eventId', 'r1-4'],
      ['runId', 'r1'],
      ['sequence', 4],
      ['type', 'node.completed'],
      ['timestamp', '1970-01-01T00:00:00.000Z'],
      ['nodeId', 'a"b'],
      ['causationId', 'r1-2'],
      ['schemaVersion', 1],
      ['engineVersion', '3'],
      ['payload', { nodeId: 100 }],
    ]);
  });

  it('is always a valid RunEventDoc', () => {
    const name = fc.string({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        name,
        fc.nat(),
        fc.option(name, { nil: undefined }),
        fc.jsonValue(),
        (runId, seq, nodeId, payload) => {
          const payloadText = JSON.stringify(payload);
          const doc = JSON.parse(
            assembleWireEvent({
              runId,
              seq,
              type: 'run.started',
              at: seq,
              nodeId,
              payloadText,
              engineVersion: 1,
            }),
          );

          expect(validate(doc)).toEqual([]);
          expect(doc.payload).toEqual(JSON.parse(payloadText));
          expect(doc.nodeId).toBe(nodeId);
        },
      ),
    );
  });

  it('is refused with a type that is neither in the catalogue nor a vendor name', () => {
    const event = { eventId: 'e', runId: 'r', payload: null, timestamp: '2026-01-01T00:00:00Z', sequence: 0 };

    expect(validate({ ...event, type: 'acme.thing' })).toEqual([]);
    expect(validate({ ...event, type: 'core.thing' })).not.toEqual([]);
    expect(validate({ ...event, type: 'thing' })).not.toEqual([]);
  });
});
