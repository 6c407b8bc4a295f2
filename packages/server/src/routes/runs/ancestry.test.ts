import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const CHILD = 'noop';

/** Calls a child, and continues when it has ended. */
const PARENT: JsonObject = {
  id: 'parent',
  name: 'parent',
  version: '1.0',
  nodes: [
    {
      id: 'call',
      typeId: 'core.subWorkflow',
      name: 'call',
      position: { x: 0, y: 0 },
      config: { workflowId: CHILD },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
  metadata: { tags: [] },
  settings: { timeout: 60_000 },
};

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
  await at.call('POST', '/v1/host/weft/workflows', { body: PARENT });
});
afterAll(() => at.close());

const ancestry = (runId: string, key = at.key) => at.call('GET', `/v1/runs/${runId}/ancestry`, { key });

async function family(): Promise<{ parent: string; child: string }> {
  const { runId } = await at.start('parent');
  await at.reaches(runId, 'completed');
  const { json } = await at.call('GET', `/v1/runs/${runId}`);
  return { parent: runId, child: String(json.childRuns?.['0']?.runId) };
}

describe('the ancestry of a run', () => {
  it('names the parent of a child, and how it was started', async () => {
    const { parent, child } = await family();

    const answer = await ancestry(child);

    const hostId = answer.json.hostId;
    expect(answer.json).toEqual({
      runId: child,
      hostId,
      parent: { runId: parent, hostId, cause: 'core.subWorkflow' },
    });
    expect((await ancestry(parent)).json).toEqual({ runId: parent, hostId, parent: null });
  });

  it('has no parent for a fork, also for the fork of a child', async () => {
    const { child } = await family();
    const forked = await at.call('POST', `/v1/runs/${child}:fork`, { body: { mode: 'replay' } });

    const { json } = await ancestry(String(forked.json.runId));

    expect(json.parent).toBeNull();
  });

  it('no longer names a parent that was removed', async () => {
    const { parent, child } = await family();
    await at.call('DELETE', `/v1/host/weft/runs/${parent}`);

    expect((await ancestry(child)).json.parent).toBeNull();
  });

  it('is 404 for a run the key may not see, and needs runs:read', async () => {
    const { child } = await family();

    const [strange, unknown] = [await ancestry(child, at.otherTenantKey), await ancestry('no-such-run')];
    const without = await ancestry(child, await at.keyWithout('runs:read'));

    expect([strange.status, unknown.status, without.status]).toEqual([404, 404, 403]);
    expect(strange.text).toBe(unknown.text);
  });
});
