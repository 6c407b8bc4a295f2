import { describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import { ConnectionError } from '../requests/errors.ts';
import type { Fetch } from '../requests/transport.ts';

function clientAnswering(answer: (url: URL) => Response) {
  const seen: URL[] = [];
  const fetch: Fetch = async (input) => {
    const url = new URL(String(input));
    seen.push(url);
    return answer(url);
  };
  return { client: createClient({ baseUrl: 'http://host.test', fetch }), seen };
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const event = (sequence: number) => ({ sequence, type: 'node.started', payload: {} });

describe('comparing two runs', () => {
  it('asks for the one against the other, ids encoded', async () => {
    const { client, seen } = clientAnswering(() =>
      Response.json({ a: 'a/1', b: 'b&2', divergedAtSeq: null }),
    );

    const diff = await client.runs.diff('a/1', 'b&2');

    expect(diff.divergedAtSeq).toBeNull();
    expect(seen.map((url) => url.href)).toEqual(['http://host.test/v1/runs/a%2F1:diff?against=b%262']);
  });

  it('gives the text as it came, also when a character is cut in two', async () => {
    const bytes = new TextEncoder().encode('{"a":"é"}');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const { client } = clientAnswering(() => new Response(body));

    expect(await joined(await client.runs.diffText('a', 'b'))).toBe('{"a":"é"}');
  });

  it('fails before the first piece when the host refuses', async () => {
    const { client } = clientAnswering(() =>
      Response.json({ error: 'not_found', message: 'No.' }, { status: 404 }),
    );

    await expect(client.runs.diffText('a', 'b')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('distinguishes a broken connection from a short answer', async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new TypeError('terminated'));
      },
    });
    const { client } = clientAnswering(() => new Response(body));

    await expect(joined(await client.runs.diffText('a', 'b'))).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('reading a log', () => {
  it('continues after the last event of each page until the log is complete', async () => {
    const { client, seen } = clientAnswering((url) => {
      const after = Number(url.searchParams.get('lastSequence') ?? '-1');
      return Response.json({ events: [event(after + 1), event(after + 2)], isComplete: after > 1 });
    });
    const sequences: number[] = [];

    for await (const { sequence } of client.runs.log('r')) sequences.push(sequence);

    expect(sequences).toEqual([0, 1, 2, 3, 4, 5]);
    expect(seen.map((url) => url.searchParams.get('lastSequence'))).toEqual([null, '1', '3']);
  });

  it('ends when there is nothing new, or the same again', async () => {
    const { client, seen } = clientAnswering(() => Response.json({ events: [event(0)], isComplete: false }));
    let events = 0;

    for await (const _event of client.runs.log('r')) events += 1;

    expect([events, seen.length]).toEqual([1, 2]);
  });
});
