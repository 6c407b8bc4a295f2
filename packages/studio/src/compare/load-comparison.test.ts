import { expect, it } from 'vitest';
import { createClient } from '@weft/sdk';
import { event } from '../run/testing/events.ts';
import { MAX_EVENTS, readOn } from './load-comparison.ts';

/** A host with a log of this length, which counts how often it is asked. */
function hostWith(length: number) {
  const asked: number[] = [];
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    apiKey: 'k',
    fetch: async (url) => {
      const after = Number(new URL(String(url)).searchParams.get('lastSequence') ?? -1);
      asked.push(after);
      const count = Math.max(0, Math.min(1_000, length - after - 1));
      const events = Array.from({ length: count }, (_, index) =>
        event(after + 1 + index, 'node.started', 'n'),
      );
      return Response.json({ events, isComplete: false });
    },
  });
  return { client, asked };
}

it('reads no more of a log than it can hold, and says that there is more', async () => {
  const { client, asked } = hostWith(1_000_000);
  const log = { events: [], chars: 0, isCut: false };

  await readOn(client, 'r', log);
  await readOn(client, 'r', log);

  expect(log).toMatchObject({ isCut: true, events: { length: MAX_EVENTS } });
  expect(asked).toHaveLength(MAX_EVENTS / 1_000 + 1);
});

it('asks only for what has come since', async () => {
  const { client, asked } = hostWith(1_500);
  const log = { events: [], chars: 0, isCut: false };

  await readOn(client, 'r', log);
  await readOn(client, 'r', log);

  expect(log.events).toHaveLength(1_500);
  expect(asked).toEqual([-1, 999, 1_499]);
});
