import { isHostError } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { chain, node, variable } from '../core/testing/definitions.ts';
import type { HostOptions } from './create-host.ts';
import type { IdempotencyClaim } from './host.ts';
import { alice, newRun, startHost, stranger, type TestHost, until } from '../runtime/testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

function claimOf(keyHash: string, requestDigest = 'digest'): IdempotencyClaim<unknown> {
  return {
    operation: 'POST /v1/runs',
    keyHash,
    requestDigest,
    render: (outcome) => ({ status: 201, body: JSON.stringify(outcome) }),
  };
}

describe('a run of pure nodes', () => {
  it('is over in one commit', async () => {
    const { host, store, register, types } = await open();
    const workflowId = await register({ nodes: [node('a'), node('b')], edges: chain('a', 'b') });
    const commits: number[] = [];
    store.watch((_, nextSeq) => commits.push(nextSeq));

    const accepted = await host.runs.create(alice, newRun(workflowId));

    expect(accepted).toMatchObject({ replayed: false, status: 'running' });
    const runId = accepted.replayed ? '' : accepted.runId;
    expect(await types(runId)).toEqual([
      'run.started',
      'node.started',
      'node.completed',
      'node.started',
      'node.completed',
      'run.completed',
    ]);
    expect(commits).toEqual([6]);
    expect((await host.runs.snapshot(alice, runId))?.snapshot).toMatchObject({ runId, status: 'completed' });
    expect(host.stats()).toMatchObject({ live: 0, pending: 0 });
  });

  it('yields between batches and continues', async () => {
    const { register, run, status, types } = await open({ limits: { batchNodes: 2 } });
    const ids = Array.from({ length: 9 }, (_, index) => `n${index}`);
    const workflowId = await register({ nodes: ids.map((id) => node(id)), edges: chain(...ids) });

    const runId = await run(workflowId);

    await until(async () => (await status(runId)) === 'completed');
    expect(await types(runId)).toHaveLength(2 + 2 * ids.length);
  });

  it('is not there for another tenant', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register({ nodes: [node('a')] }));

    expect(await host.runs.snapshot(stranger, runId)).toBeUndefined();
    expect(await host.runs.events(stranger, runId, -1, 10)).toBeUndefined();
    expect(await host.runs.explain(stranger, runId)).toBeUndefined();
    expect(await host.runs.command(stranger, runId, { type: 'cancel' })).toBeUndefined();
    expect((await host.runs.list(stranger, {}, { limit: 10 })).rows).toEqual([]);
  });
});

describe('an effect', () => {
  it('starts after its intent is durable and ends with its outcome', async () => {
    const { effects, register, run, status, types } = await open();
    const workflowId = await register({ nodes: [node('call', 'test.effect')] });

    const runId = await run(workflowId);
    const call = await until(() => effects.calls[0]);
    expect(await types(runId)).toEqual(['run.started', 'node.started']);
    call.succeed();

    await until(async () => (await status(runId)) === 'completed');
    expect(call.context.invocationId).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('fails its node without telling what it threw', async () => {
    const { effects, host, register, run, status } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const call = await until(() => effects.calls[0]);

    call.fail(new Error('password hunter2 is wrong'));

    await until(async () => (await status(runId)) === 'failed');
    const view = await host.runs.snapshot(alice, runId);
    expect(view?.snapshot.error?.code).toBe('node_failed');
    expect(JSON.stringify(view)).not.toContain('hunter2');
  });
});

describe('creating a run', () => {
  it('happens once for ten parallel requests with the same key', async () => {
    const { host, register } = await open();
    const workflowId = await register({ nodes: [node('a')] });

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => host.runs.create(alice, newRun(workflowId), claimOf('k1'))),
    );

    const ids = answers.map((answer) =>
      answer.replayed ? String(JSON.parse(answer.body).runId) : answer.runId,
    );
    expect(new Set(ids).size).toBe(1);
    expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
    expect((await host.runs.list(alice, {}, { limit: 10 })).rows).toHaveLength(1);
  });

  it('refuses a key that was used for another request', async () => {
    const { host, register } = await open();
    const workflowId = await register({ nodes: [node('a')] });
    await host.runs.create(alice, newRun(workflowId), claimOf('k1'));

    const repeated = host.runs.create(alice, newRun(workflowId), claimOf('k1', 'other'));

    await expect(repeated).rejects.toSatisfy((error) => isHostError(error, 'idempotency_key_mismatch'));
  });

  it('is refused while a run of the same scope is running', async () => {
    const { host, effects, register, run } = await open();
    const workflowId = await register({ nodes: [node('call', 'test.effect')] });
    const first = await run(workflowId, { scopeId: 's1', exclusiveScope: true });

    const second = host.runs.create(alice, newRun(workflowId, { scopeId: 's1', exclusiveScope: true }));

    await expect(second).rejects.toMatchObject({
      code: 'run_already_active',
      retryAfter: 5,
      details: { activeRunId: first, activeHost: 'cloud', retryAfter: 5 },
    });
    (await until(() => effects.calls[0])).succeed();
  });

  it('may start 10,000 nodes unless something else is set', async () => {
    const { host } = await open();

    expect(host.capabilities().limits).toMatchObject({ maxNodeExecutions: 10_000 });
  });

  it('names the field that is wrong', async () => {
    const { host, register } = await open({ limits: { maxNodeExecutions: 10, maxRunDurationMs: 5_000 } });
    const workflowId = await register({
      nodes: [node('a')],
      variables: [variable('name', { required: true }), variable('size', { type: 'number' })],
    });
    const inputs = { name: 'x' };
    const cases = [
      [{ inputs: {} }, 'validation_error', 'inputs.name'],
      [{ inputs: { name: 'x', size: 'big' } }, 'validation_error', 'inputs.size'],
      [{ inputs, configurable: { recursionLimit: 11 } }, 'validation_error', 'configurable.recursionLimit'],
      [{ inputs, configurable: { runTimeoutMs: 6_000 } }, 'validation_error', 'configurable.runTimeoutMs'],
      [{ inputs, metadata: { note: 'x'.repeat(60_000) } }, 'validation_error', 'metadata'],
      [
        { inputs, configurable: { mockProvider: { id: 'm' } } },
        'mock_provider_forbidden',
        'configurable.mockProvider',
      ],
      [{ inputs, workflowId: 'nowhere' }, 'not_found', 'workflowId'],
      [{ inputs, configurable: { 'weft.workflowVersion': '9' } }, 'not_found', 'workflowId'],
    ] as const;

    for (const [request, code, field] of cases) {
      await expect(host.runs.create(alice, newRun(workflowId, request))).rejects.toMatchObject({
        code,
        details: { field },
      });
    }
    await expect(host.runs.create(alice, newRun('nowhere'))).rejects.not.toThrow(/nowhere/);
  });

  it('takes a forced engine version from test keys only', async () => {
    const { host, register } = await open();
    const workflowId = await register({ nodes: [node('a')] });
    const tester = { ...alice, test: true };

    const forbidden = host.runs.create(alice, newRun(workflowId, { forceEngineVersion: 2 }));
    await expect(forbidden).rejects.toMatchObject({ code: 'force_engine_version_forbidden' });
    const outside = host.runs.create(tester, newRun(workflowId, { forceEngineVersion: 99 }));
    await expect(outside).rejects.toMatchObject({
      code: 'unsupported_force_engine_version',
      details: { min: 1, max: 2 },
    });
    const accepted = await host.runs.create(tester, newRun(workflowId, { forceEngineVersion: 2 }));

    const page = await host.runs.events(alice, accepted.replayed ? '' : accepted.runId, -1, 1);
    expect(JSON.parse(page?.events[0]?.document ?? '{}')).toMatchObject({ engineVersion: '2' });
  });

  it('runs the current version, or the one asked for', async () => {
    const { host, register } = await open();
    const workflowId = await register({ nodes: [node('a')] });
    const current = await host.workflows.get(alice, workflowId);
    await host.workflows.register(alice, { ...current, version: '2.0' }, { strict: false, dev: false });

    await host.runs.create(alice, newRun(workflowId));
    await host.runs.create(alice, newRun(workflowId, { configurable: { 'weft.workflowVersion': '1.0' } }));

    const { rows } = await host.runs.list(alice, {}, { limit: 10 });
    expect(rows.map((row) => row.workflowVersion)).toEqual(['1.0', '2.0']);
  });

  it('leaves runs over the memory bound pending, and takes them up when there is room', async () => {
    const { host, effects, register, run, status } = await open({ limits: { maxLiveRuns: 1 } });
    const workflowId = await register({ nodes: [node('call', 'test.effect')] });
    const first = await run(workflowId);

    const accepted = await host.runs.create(alice, newRun(workflowId));

    expect(accepted).toMatchObject({ status: 'pending' });
    const second = accepted.replayed ? '' : accepted.runId;
    expect(await status(second)).toBe('pending');
    expect(await host.runs.explain(alice, second)).toMatchObject({ waitingFor: 'queue' });
    (await until(() => effects.calls[0])).succeed();
    await until(async () => (await status(first)) === 'completed');
    (await until(() => effects.calls[1])).succeed();
    await until(async () => (await status(second)) === 'completed');
  });
});

describe('overload', () => {
  it('turns new runs away while too many of their tenant wait, and names the cause', async () => {
    const { host, effects, register, run } = await open({ limits: { maxLiveRuns: 1, maxPendingRuns: 1 } });
    const workflowId = await register({ nodes: [node('call', 'test.effect')] });
    await run(workflowId);
    await until(() => effects.calls[0]);
    expect(host.operations.overload('default')).toBeUndefined();

    await run(workflowId);
    await run(workflowId);

    expect(host.operations.overload('default')).toEqual({ cause: 'pending-runs', retryAfter: 2 });
    expect(host.operations.overload('other')).toBeUndefined();
  });
});
