import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../core/testing/definitions.ts';
import type { HostOptions } from './create-host.ts';
import type { Observer } from './host.ts';
import { alice, startHost, type TestHost, until } from '../runtime/testing/test-host.ts';

const opened: TestHost[] = [];
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

/** An observer that records its calls. */
function notebook(): Observer & { readonly heard: string[]; readonly groups: number[] } {
  const heard: string[] = [];
  const groups: number[] = [];
  return {
    heard,
    groups,
    committed(record, events, isNew) {
      if (isNew) heard.push(`new ${record.workflowId}`);
      heard.push(...events.map(({ type }) => type));
    },
    grouped: ({ units }) => groups.push(units),
    decided: () => heard.push('decided'),
    delivering: () => undefined,
    fired: () => undefined,
    ingested: () => undefined,
  };
}

describe('an observer', () => {
  it('gets every event once, in order, from every actor', async () => {
    const { host, register, run, status, types, effects } = await open();
    const workflowId = await register({
      nodes: [node('a'), node('call', 'test.effect'), node('b')],
      edges: chain('a', 'call', 'b'),
    });
    const observer = notebook();
    host.operations.observe(observer);

    const runId = await run(workflowId);
    await until(() => effects.calls.length === 1);
    effects.calls[0]?.succeed();
    await until(async () => (await status(runId)) === 'completed');

    expect(observer.heard).toEqual([`new ${workflowId}`, ...(await types(runId))]);
    expect(observer.groups.length).toBeGreaterThan(0);
  });

  it('hears when a command is decided, and nothing after it has left', async () => {
    const { host, register, run, status, effects } = await open();
    const workflowId = await register({ nodes: [node('call', 'test.effect')] });
    const observer = notebook();
    const leave = host.operations.observe(observer);
    const runId = await run(workflowId);
    await until(() => effects.calls.length === 1);

    await host.runs.command(alice, runId, { type: 'cancel' });
    await until(async () => (await status(runId)) === 'cancelled');
    await until(() => observer.heard.includes('decided'));
    leave();
    const before = observer.heard.length;
    await run(workflowId);

    expect(observer.heard).toHaveLength(before);
  });

  it('that throws affects no run', async () => {
    const { host, register, run, status } = await open();
    const workflowId = await register({ nodes: [node('a')] });
    host.operations.observe({
      ...notebook(),
      committed() {
        throw new Error('broken');
      },
    });

    const runId = await run(workflowId);

    await until(async () => (await status(runId)) === 'completed');
  });
});

describe('the trace of a run', () => {
  it('is handed to effects as the context of the span that the log will give their attempt', async () => {
    const { host, register, run, status, effects } = await open();
    const workflowId = await register({
      nodes: [node('call', 'test.effect', {}, { settings: { retry: { maxAttempts: 2, initialMs: 1 } } })],
    });
    const runId = await run(workflowId, { traceparent: TRACEPARENT });
    await until(() => effects.calls.length === 1);

    const traceparent = effects.calls[0]?.context.traceparent;
    effects.calls[0]?.succeed();
    await until(async () => (await status(runId)) === 'completed');

    const spans = (await host.operations.runSpans(runId, 100))?.spans ?? [];
    expect(spans.map(({ name }) => name)).toEqual(['openwop.run', 'openwop.node.test.effect']);
    expect(traceparent).toBe(`00-${TRACE}-${spans[1]?.spanId}-01`);
  });

  it('continues in child runs, below the node that started them', async () => {
    const { host, store, register, run, status } = await open();
    await register({ nodes: [node('inner')] }, 'child');
    const workflowId = await register(
      {
        nodes: [node('before'), node('sub', 'core.subWorkflow', { workflowId: 'child' })],
        edges: chain('before', 'sub'),
      },
      'parent',
    );

    const runId = await run(workflowId);
    await until(async () => (await status(runId)) === 'completed');

    const { rows } = await store.listRuns('default', { workflowId: 'child' }, { limit: 1 });
    const child = await host.operations.runSpans(rows[0]?.record.runId ?? '', 100);
    const parent = await host.operations.runSpans(runId, 100);
    const invoke = parent?.spans.find(({ attributes }) => attributes['openwop.node_id'] === 'sub');
    expect(child?.spans[0]).toMatchObject({
      name: 'openwop.run',
      traceId: parent?.spans[0]?.traceId,
      parentSpanId: invoke?.spanId,
      attributes: {
        'openwop.parent.run_id': runId,
        'openwop.parent.workflow_id': 'parent',
        'openwop.parent.node_id': 'sub',
      },
    });
  });

  it('tells of a breached cap on the run span, and gives no more spans than asked for', async () => {
    const { host, register, run, status } = await open();
    const workflowId = await register({ nodes: [node('a'), node('b')], edges: chain('a', 'b') });
    const runId = await run(workflowId, { configurable: { recursionLimit: 1 } });
    await until(async () => (await status(runId)) === 'failed');

    const found = await host.operations.runSpans(runId, 1);

    expect(found).toMatchObject({
      dropped: 1,
      spans: [
        {
          attributes: {
            'openwop.cap_kind': 'node-executions',
            'openwop.cap_limit': 1,
            'openwop.cap_observed': 2,
          },
        },
      ],
    });
    expect(await host.operations.runSpans('0190a000-0000-7000-8000-00000000ffff', 1)).toBeUndefined();
  });
});
