import { readFileSync } from 'node:fs';
import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

const page = new URL('../../../../../docs/guide/channels.md', import.meta.url);

/** The definitions that stand on the page in full. */
function definitions(): JsonObject[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/```json\n(\{\n[\s\S]*?)```/g);
  return [...blocks].map(([, text]) => JSON.parse(text ?? '') as JsonObject);
}

let test: TestHost | undefined;
afterEach(async () => test?.host.stop(0));

describe('the guide to channels', () => {
  it('shows workflows that run as it says', async () => {
    const { host, store, run, status } = (test = await startHost());
    for (const definition of definitions()) {
      const { warnings } = await host.workflows.register(alice, definition, { strict: true, dev: false });
      expect(warnings).toEqual([]);
    }

    const runId = await run('survey');
    await until(async () => (await status(runId)) === 'completed');

    const log = await store.readEvents(runId, 0, 1000, 1e9);
    const counts = log.filter(({ type, nodeId }) => type === 'node.completed' && nodeId === 'count');
    expect(JSON.parse(counts.at(-1)?.payload ?? '')).toMatchObject({
      outputs: { output: expect.arrayContaining(['north: yes', 'south: no']) },
    });
  });
});
