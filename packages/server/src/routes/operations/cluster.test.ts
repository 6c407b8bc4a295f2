import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const NODES = '/v1/host/weft/cluster/nodes';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

interface NodeDocument {
  readonly name: string;
  readonly state: string;
  readonly isSelf: boolean;
}

async function nodes(): Promise<readonly NodeDocument[]> {
  return (await at.call('GET', NODES)).json.nodes as unknown as NodeDocument[];
}

describe('the nodes of a cluster', () => {
  it('are the process itself, with times as text', async () => {
    expect(await nodes()).toEqual([
      {
        name: expect.stringMatching(/^node-[0-9a-f]{6}$/),
        state: 'active',
        runs: 0,
        isSelf: true,
        version: expect.any(String),
        startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        deadline: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
  });

  it('are for administrators', async () => {
    const key = await at.keyWithout('host:admin');

    const listed = await at.call('GET', NODES, { key });
    const drained = await at.call('POST', `${NODES}/any:drain`, { key });

    expect([listed.status, drained.status]).toEqual([403, 403]);
  });

  it('are drained by name, and an unknown one is 404', async () => {
    const [{ name } = { name: '' }] = await nodes();

    const unknown = await at.call('POST', `${NODES}/unknown:drain`);
    const asked = await at.call('POST', `${NODES}/${name}:drain`);

    expect([unknown.status, unknown.json.error]).toEqual([404, 'not_found']);
    expect([asked.status, asked.json]).toMatchObject([202, { name, state: 'draining' }]);
    await expect.poll(async () => (await nodes())[0]?.state).toBe('drained');
  });
});
