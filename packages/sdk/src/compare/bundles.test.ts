import { describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import type { Fetch } from '../requests/transport.ts';

function clientAnswering(answer: () => Response): {
  client: ReturnType<typeof createClient>;
  urls: string[];
  bodies: unknown[];
} {
  const urls: string[] = [];
  const bodies: unknown[] = [];
  const fetch: Fetch = async (input, init) => {
    urls.push(`${init?.method ?? 'GET'} ${String(input)}`);
    if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body));
    return answer();
  };
  return { client: createClient({ baseUrl: 'http://host.test', apiKey: 'k', fetch }), urls, bodies };
}

describe('bundles', () => {
  it('come parsed, or as the text the host sent', async () => {
    const text = '{"bundleVersion":"1.0","note":"grün"}';
    const { client, urls } = clientAnswering(() => new Response(text));

    const parsed = await client.bundles.get('r 1', { maxEvents: 0 });
    let read = '';
    for await (const piece of await client.bundles.text('r 1')) read += piece;

    expect(parsed).toEqual(JSON.parse(text));
    expect(read).toBe(text);
    expect(urls).toEqual([
      'GET http://host.test/v1/runs/r%201/debug-bundle?maxEvents=0',
      'GET http://host.test/v1/runs/r%201/debug-bundle',
    ]);
  });

  it('fail as the host says, before the first piece', async () => {
    const { client } = clientAnswering(() =>
      Response.json({ error: 'not_found', message: 'no' }, { status: 404 }),
    );

    await expect(client.bundles.text('r1')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('annotations', () => {
  it('are made and listed', async () => {
    const { client, urls, bodies } = clientAnswering(() => Response.json({ annotations: [] }));

    await client.annotations.create('r1', { signal: { kind: 'flag' } });
    const listed = await client.annotations.list('r1');

    expect(listed).toEqual([]);
    expect(bodies).toEqual([{ signal: { kind: 'flag' } }]);
    expect(urls).toEqual([
      'POST http://host.test/v1/runs/r1/annotations',
      'GET http://host.test/v1/runs/r1/annotations',
    ]);
  });

  it('reach followers of the run, next to its events and never among them', async () => {
    const frames = [
      'id: 0\nevent: run.started\ndata: {"type":"run.started","sequence":0}\n\n',
      'event: run.annotated\ndata: {"type":"run.annotated","payload":{"annotationId":"ann_1"}}\n\n',
      'id: 1\nevent: run.completed\ndata: {"type":"run.completed","sequence":1}\n\n',
    ];
    const { client } = clientAnswering(() => new Response(frames.join('')));
    const said: string[] = [];
    const types: string[] = [];

    const onAnnotated = ({ annotationId }: { annotationId: string }): void => void said.push(annotationId);
    for await (const event of client.runs.events('r1', { onAnnotated })) types.push(event.type);

    expect(types).toEqual(['run.started', 'run.completed']);
    expect(said).toEqual(['ann_1']);
  });
});
