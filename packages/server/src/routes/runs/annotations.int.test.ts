import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../start-server.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';
import { openSse, type SseClient } from '../../testing/sse-client.ts';

let at: Harness;
let server: RunningServer;

beforeAll(async () => {
  at = await openHarness();
  server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.shutdown();
  await at.close();
});

function follow(runId: string, mode: string): Promise<SseClient> {
  return openSse({ url: `${server.url}/v1/runs/${runId}/events?streamMode=${mode}`, key: at.key });
}

async function running(): Promise<string> {
  const { runId } = await at.start('wait');
  await at.reaches(runId, 'running');
  return runId;
}

const flag = (runId: string) =>
  at.call('POST', `/v1/runs/${runId}/annotations`, { body: { signal: { kind: 'flag' } } });

const isAnnotation = (frame: { event: string }): boolean => frame.event === 'run.annotated';

describe('an annotation of a run that is being watched', () => {
  it.each(['updates', 'debug'])('is streamed at once in %s, and moves no reader’s position', async (mode) => {
    const runId = await running();
    const client = await follow(runId, mode);
    await client.until((frames) => frames.length > 0);
    const position = client.frames.at(-1)?.id;

    const { json } = await flag(runId);
    await client.until((frames) => frames.some(isAnnotation));

    const annotation = client.frames.find(isAnnotation);
    expect(JSON.parse(annotation?.data ?? '')).toMatchObject({ type: 'run.annotated', runId, payload: json });
    expect(annotation?.id).toBe(position);
    client.disconnect();
  });

  it('is not streamed in messages and values, nor to readers of another run, nor again to late readers', async () => {
    const [runId, other] = [await running(), await running()];
    const deaf = await Promise.all([
      follow(runId, 'messages'),
      follow(runId, 'values'),
      follow(other, 'debug'),
    ]);
    const reader = await follow(runId, 'debug');
    await reader.until((frames) => frames.length > 0);

    await flag(runId);
    await reader.until((frames) => frames.some(isAnnotation));
    const late = await follow(runId, 'debug');
    for (const id of [runId, other]) await at.call('POST', `/v1/runs/${id}/cancel`);
    await Promise.all([...deaf, late].map((client) => client.ended));

    for (const client of [...deaf, late]) expect(client.frames.filter(isAnnotation)).toEqual([]);
  });
});
