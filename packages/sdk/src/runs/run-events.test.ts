import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Client } from '../client.ts';
import type { RunDocument, RunEventDocument } from '../documents.ts';
import type { KnownEvent, OtherEvent, OutputChunk, RunEvent } from './run-events.ts';

/** What a program may say about an event, checked when this file is compiled. */
function described(event: RunEvent): string {
  switch (event.type) {
    case 'node.completed':
      expectTypeOf(event).toEqualTypeOf<KnownEvent<'node.completed'>>();
      expectTypeOf(event.payload.nodeId).toEqualTypeOf<string>();
      // @ts-expect-error a completed node has no error
      return `${event.payload.nodeId} ${String(event.payload.error)}`;
    case 'node.failed':
    case 'run.failed':
      return event.payload.error.code;
    case 'weft.trigger.fired':
      return event.payload.trigger;
    default:
      // @ts-expect-error which payload it is, is not known here
      return event.payload.nodeId as string;
  }
}

const event = (type: string, payload: object): RunEvent =>
  ({ eventId: 'e', runId: 'r', type, payload, timestamp: 't', sequence: 0 }) as unknown as RunEvent;

describe('an event', () => {
  it('has the payload of its type', () => {
    expect(described(event('run.failed', { error: { code: 'broken', message: 'It broke.' } }))).toBe(
      'broken',
    );
    expect(described(event('acme.noted', { nodeId: 'n' }))).toBe('n');
  });

  it('of a type that is not known has any payload, and is an event document like the others', () => {
    expectTypeOf<Exclude<RunEvent, KnownEvent>>().toEqualTypeOf<OtherEvent>();
    expectTypeOf<RunEvent>().toExtend<RunEventDocument>();
    const seen = event('acme.noted', {});
    const type: string = seen.type;

    expect(type === 'acme.noted').toBe(true);
  });

  it('is what streams bring, unless their mode says otherwise', () => {
    const streams = ({ runs }: Client) => ({
      plain: runs.events('r'),
      debug: runs.events('r', { mode: 'debug' }),
      values: runs.events('r', { mode: 'values' }),
      mixed: runs.events('r', { mode: ['updates', 'messages'] }),
    });
    type Streams = ReturnType<typeof streams>;

    expectTypeOf<Streams['plain']>().toEqualTypeOf<AsyncIterable<RunEvent>>();
    expectTypeOf<Streams['debug']>().toEqualTypeOf<AsyncIterable<RunEvent>>();
    expectTypeOf<Streams['values']>().toEqualTypeOf<AsyncIterable<RunDocument>>();
    expectTypeOf<Streams['mixed']>().toEqualTypeOf<AsyncIterable<RunEvent | OutputChunk>>();
  });
});
