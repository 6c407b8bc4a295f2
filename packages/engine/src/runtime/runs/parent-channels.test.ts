import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLog } from '../../core/fold/log-checker.ts';
import { edge, node, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { logEntries } from '../../core/testing/simulation.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const CHILD: WorkflowSpec = {
  nodes: [node('send', 'core.channelWrite', { channelName: 'log', value: 'from the child', to: 'parent' })],
};

const parentWith = (reducer: string, config: JsonObject = {}): WorkflowSpec => ({
  nodes: [
    node('sub', 'core.subWorkflow', { workflowId: 'child' }),
    node('seen', 'weft.channel.read', { channelName: 'log' }),
    node('end'),
  ],
  edges: [edge('sub', 'end')],
  channels: { log: { reducer } },
  triggers: [
    {
      id: 't',
      type: 'channel-write',
      nodeId: 'seen',
      config: { channel: 'log', onlyFrom: 'child', ...config },
    },
  ],
});

async function ended(spec: WorkflowSpec) {
  const test = await startHost();
  opened.push(test);
  await test.register(CHILD, 'child');
  const runId = await test.run(await test.register(spec, 'parent'));
  await until(async () => (await test.status(runId)) === 'completed');
  const log = await test.store.readEvents(runId, 0, 1000, 1e9);
  expect(checkLog(logEntries(log))).toEqual([]);
  const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
  return { snapshot, log };
}

describe('a child run that writes to a channel of its parent', () => {
  it('is heard, and starts what waits for it', async () => {
    const { snapshot, log } = await ended(parentWith('append', { debounceMs: 20 }));

    expect(snapshot).toMatchObject({ channels: { log: ['from the child'] } });
    expect(log.filter(({ type }) => type === 'weft.trigger.fired')).toHaveLength(1);
    expect(log.filter(({ type, nodeId }) => type === 'node.completed' && nodeId === 'seen')).toHaveLength(1);
  });

  it('is refused where the reducer takes no writes from other runs, and the parent continues', async () => {
    const { snapshot, log } = await ended(parentWith('replace'));

    expect(snapshot).not.toHaveProperty('channels.log');
    const warning = log.find(({ type }) => type === 'log.appended');
    expect(JSON.parse(warning?.payload ?? '{}')).toMatchObject({
      level: 'warn',
      fields: { code: 'channel_cross_engine_write_forbidden', channel: 'log', reducer: 'replace' },
    });
    expect(log.map(({ type, nodeId }) => `${type} ${nodeId}`)).toContain('node.skipped seen');
  });
});
