import type { JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkLog } from '../core/fold/log-checker.ts';
import { logEntries } from '../core/testing/simulation.ts';
import { chain, node } from '../core/testing/definitions.ts';
import { NodeFailure } from '../model/node-type.ts';
import type { ModelContext, ModelReply, ModelRequest, Models } from '../ports/models.ts';
import { alice, startHost, stranger, type TestHost, until } from '../runtime/testing/test-host.ts';
import type { TenantBudget } from '../runtime/costs/tenant-budgets.ts';

const USAGE = { promptTokens: 1_000, completionTokens: 100, totalTokens: 1_100 };
const TOOL = { inputSchema: { type: 'object' }, isReadOnly: true, isIdempotent: true, isDestructive: false };

type Answer = (request: ModelRequest, context: ModelContext, call: number) => Partial<ModelReply>;

let test: TestHost;
let calls = 0;
let answer: Answer;

const models: Models = {
  providerFor: ({ model = 'fable-1' }) => ({
    id: 'acme-ai',
    model,
    async call(request, context) {
      calls += 1;
      const reply = answer(request, context, calls);
      return { text: 'ok', model, finishReason: 'stop', usage: USAGE, ...reply };
    },
  }),
};

const PRICES = {
  name: 'invented',
  date: '2026-01-01',
  licence: 'CC0-1.0',
  currency: 'USD' as const,
  models: {
    'acme-ai/fable-1': { inputPerMillion: '2.5', outputPerMillion: '10', cacheReadPerMillion: '0.1' },
  },
};

async function open(budgets?: Readonly<Record<string, TenantBudget>>): Promise<void> {
  test = await startHost({
    models,
    ...(budgets !== undefined && { budgets: new Map(Object.entries(budgets)) }),
    tools: {
      servers: ['files'],
      list: () => Promise.resolve([{ ...TOOL, name: 'read', digest: 'd' }]),
      call: () => Promise.resolve({ content: [], isError: false }),
    },
  });
}

const ask = (id: string, config: JsonObject = {}, settings: JsonObject = {}) =>
  node(id, 'core.ai.callPrompt', { prompt: 'Speak.', ...config }, { settings });
const RETRY = { retry: { maxAttempts: 3, initialMs: 1 } };
const AGENT = node('agent', 'weft.ai.agent', {
  instructions: 'Be brief.',
  prompt: 'Go.',
  tools: ['mcp:files/*'],
});
const ONE_CALL = { toolCalls: [{ id: 'c', name: 'files__read', arguments: '{}' }] };

async function ended(runId: string) {
  return until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return snapshot?.status === 'completed' || snapshot?.status === 'failed' ? snapshot : undefined;
  });
}

/** One node after the other. */
async function runOf(nodes: readonly ReturnType<typeof node>[], configurable: JsonObject = {}) {
  await test.register({ nodes, edges: chain(...nodes.map(({ id }) => id)) }, 'work');
  const runId = await test.run('work', { configurable });
  return { runId, snapshot: await ended(runId) };
}

async function eventsOf(runId: string) {
  const stored = await test.store.readEvents(runId, 0, 10_000, 1e9);
  expect(checkLog(logEntries([...stored]))).toEqual([]);
  return stored.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) as JsonObject }));
}

async function payloadsOf(runId: string, type: string): Promise<JsonObject[]> {
  return (await eventsOf(runId)).filter((event) => event.type === type).map(({ payload }) => payload);
}

/** The log of a replay from the start, which must be that of its source. */
async function expectEqualReplay(runId: string): Promise<void> {
  const before = calls;
  const forked = await test.host.runs.fork(alice, runId, { mode: 'replay', fromSeq: 0 });
  const replayId = forked !== undefined && 'runId' in forked ? forked.runId : '';
  const [replay, source] = [await ended(replayId), await ended(runId)];
  expect(await eventsOf(replayId)).toEqual(await eventsOf(runId));
  expect(replay.metrics).toEqual(source.metrics);
  expect(calls).toBe(before);
}

beforeEach(() => {
  calls = 0;
  answer = () => ({});
});

afterEach(async () => {
  await test.host.stop(0);
});

const SO_FAR = { promptTokens: 1_000, completionTokens: 7, totalTokens: 1_007 };

/** A model that says what it has used so far, and then nothing more until it is stopped. */
const silentModel = (usage: ModelReply['usage'] | undefined): Models => ({
  providerFor: () => ({
    id: 'acme-ai',
    model: 'fable-1',
    call: (_request, { meter, signal }) => {
      const end = meter?.begin(() => usage && { provider: 'acme-ai', model: 'fable-1', usage });
      calls += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          end?.(false);
          reject(new NodeFailure('provider_aborted', 'It was stopped.', { retryable: true }));
        });
      });
    },
  }),
});

const CUTS = [
  ['by its timeout', {}],
  ['by the time of its run', { runTimeoutMs: 60 }],
  ['by a cancel', { cancel: true }],
] as const;

describe('a model call that is cut off', () => {
  it.each(
    CUTS.flatMap(([how, cut]) =>
      (['core.ai.callPrompt', 'weft.ai.agent'] as const).map((type) => [how, type, cut] as const),
    ),
  )('%s is counted once by what its provider had said (%s)', async (how, typeId, cut) => {
    test = await startHost({ models: silentModel(SO_FAR) });
    await test.register({ nodes: [cutNode(typeId, how === 'by its timeout' ? 60 : 60_000)] }, 'work');

    const runId = await test.run('work', 'runTimeoutMs' in cut ? { configurable: cut } : {});
    await until(async () => (calls > 0 ? true : undefined));
    if ('cancel' in cut) await test.host.runs.command(alice, runId, { type: 'cancel', by: 'alice' });
    const { metrics } = await over(runId);

    expect(await payloadsOf(runId, 'provider.usage')).toEqual([
      {
        provider: 'acme-ai',
        model: 'fable-1',
        inputTokens: 1_000,
        outputTokens: 7,
        totalTokens: 1_007,
        nodeId: 'a',
      },
    ]);
    expect(metrics).toMatchObject({ openwopCost: { tokens: { input: 1_000, output: 7 } } });
    if (!('cancel' in cut)) await expectEqualReplay(runId);
  });

  it('is not guessed where the provider had said nothing', async () => {
    test = await startHost({ models: silentModel(undefined) });
    await test.register({ nodes: [cutNode('weft.ai.agent', 40)] }, 'work');

    const runId = await test.run('work');
    await over(runId);

    expect(await payloadsOf(runId, 'provider.usage')).toEqual([]);
  });
});

function cutNode(typeId: string, timeoutMs: number) {
  const config = typeId === 'weft.ai.agent' ? { instructions: 'Speak.', prompt: 'Now.' } : { prompt: 'Now.' };
  return node('a', typeId, config, { settings: { timeoutMs } });
}

async function over(runId: string) {
  return until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return snapshot?.status === 'cancelled' || snapshot?.status === 'failed' ? snapshot : undefined;
  });
}

describe('what model calls cost', () => {
  it('is recorded with each of them, also with those that failed, and adds up in run and tenant (S-22)', async () => {
    await open();
    await test.host.costs.setPrices(alice, PRICES);
    answer = (_request, { meter }, call) => {
      if (call !== 2) return { text: '{}' };
      meter?.begin(() => ({ provider: 'acme-ai', model: 'fable-1-dated', asked: 'fable-1', usage: USAGE }))(
        false,
      );
      throw new NodeFailure('provider_unavailable', 'It broke off.', { retryable: true });
    };
    // The second attempt asks twice for an answer that never fits, and fails.
    const schema = { outputSchema: { type: 'string' }, maxRepairs: 1 };
    const { runId, snapshot } = await runOf([ask('a', { model: 'unlisted' }), ask('b', schema, RETRY)]);

    const usage = await payloadsOf(runId, 'provider.usage');

    // 1,000 × 2.5 + 100 × 10 microdollars.
    const cost = { costEstimateUsd: 0.0035, currency: 'USD' };
    const used = { provider: 'acme-ai', inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100 };
    expect(usage).toEqual([
      { ...used, model: 'unlisted', nodeId: 'a' },
      { ...used, model: 'fable-1-dated', nodeId: 'b', ...cost },
      { ...used, model: 'fable-1', nodeId: 'b', ...cost },
      { ...used, model: 'fable-1', nodeId: 'b', ...cost },
    ]);
    expect(snapshot.error?.code).toBe('envelope_invalid');
    expect(snapshot.metrics).toMatchObject({
      openwopCost: { usd: 0.0105, tokens: { input: 4_000, output: 400 } },
    });
    const report = await test.host.costs.report(alice, { by: 'run', limit: 10 });
    expect(report.costs).toEqual([
      { runId, calls: 4, tokens: { input: 4_000, output: 400 }, usd: '0.0105', unpricedCalls: 1 },
    ]);
    await expectEqualReplay(runId);
    expect((await test.host.costs.report(alice, { by: 'run', limit: 10 })).costs).toEqual(report.costs);
    expect((await test.host.costs.report(stranger, { by: 'day', limit: 10 })).total.calls).toBe(0);
  });

  it('keeps the price of its time, and has none where a part of it has no price', async () => {
    await open();
    await test.host.costs.setPrices(alice, PRICES);
    answer = (_request, _context, call) => {
      if (call === 2) return { usage: { ...USAGE, cacheReadTokens: 1_000 } };
      if (call === 3) return { usage: { ...USAGE, cacheWriteTokens: 1 } };
      return call === 4 ? { usage: { promptTokens: -5, completionTokens: 1.5, totalTokens: 0 } } : {};
    };
    const costOf = async () => (await runOf([ask('a')])).snapshot.metrics?.openwopCost?.usd;
    const { runId } = await runOf([ask('a')]);
    const price = { inputPerMillion: '1', outputPerMillion: '0', cacheReadPerMillion: '0.5' };
    const newer = { ...PRICES, name: 'newer', date: '2026-02-01', models: { 'acme-ai/fable-1': price } };
    await test.host.costs.setPrices(alice, newer);

    expect([await costOf(), await costOf(), await costOf()]).toEqual([0.0005, undefined, undefined]);
    expect((await ended(runId)).metrics?.openwopCost?.usd).toBe(0.0035);
    expect(await test.host.costs.removePrices(alice, 'newer')).toBe(true);
    expect(await test.host.costs.removePrices(alice, 'newer')).toBe(false);
    expect(await costOf()).toBe(0.0035);
  });
});

describe('the budget of a run', () => {
  it('ends it before the call that would go beyond, and says which and how much', async () => {
    await open();
    const budget = { maxTokens: 2_000, thresholdPercent: 50 };

    const { runId, snapshot } = await runOf([ask('a'), ask('b'), ask('c')], { budget });

    expect(calls).toBe(2);
    expect(snapshot.error).toMatchObject({
      code: 'budget_exhausted',
      message: expect.stringContaining('may spend 2000 tokens and has spent 2200'),
      details: { dimension: 'tokens', limit: 2_000, consumed: 2_200, scope: 'run' },
    });
    const types = (await eventsOf(runId))
      .map(({ type }) => type)
      .filter((type) => /^(budget|cap)/.test(type));
    expect(types).toEqual([
      'budget.reserved',
      'budget.consumed',
      'budget.threshold.crossed',
      'budget.consumed',
      'budget.exhausted',
      'cap.breached',
    ]);
    expect(await payloadsOf(runId, 'cap.breached')).toEqual([
      { kind: 'budget-tokens', limit: 2_000, observed: 2_200, nodeId: 'c', scope: 'run', step: 'turn-1' },
    ]);
    await expectEqualReplay(runId);
  });

  it('stops an agent between two turns, and before a tool too many', async () => {
    await open();
    answer = () => ONE_CALL;

    const turns = await runOf([AGENT], { budget: { maxTokens: 1_100 } });
    const tools = await runOf([AGENT], { budget: { maxToolCalls: 2 } });

    expect(turns.snapshot.error).toMatchObject({ code: 'budget_exhausted', details: { consumed: 1_100 } });
    expect(await payloadsOf(turns.runId, 'cap.breached')).toMatchObject([
      { observed: 1_101, step: 'turn-2' },
    ]);
    expect(await payloadsOf(tools.runId, 'agent.toolCalled')).toHaveLength(2);
    expect(tools.snapshot.error).toMatchObject({
      details: { dimension: 'toolCalls', limit: 2, consumed: 2 },
    });
    await expectEqualReplay(turns.runId);
    await expectEqualReplay(tools.runId);
  });

  it('in dollars needs a price, and allows models', async () => {
    await open();
    const failed = async (budget: JsonObject) =>
      (await runOf([ask('a', { model: 'fable-1' })], { budget })).snapshot.error?.code;

    expect(await failed({ maxCostUsd: 1 })).toBe('model_not_priced');
    await test.host.costs.setPrices(alice, PRICES);
    expect(await failed({ maxCostUsd: 0 })).toBe('budget_exhausted');
    expect(await failed({ modelDeny: ['fable-1'] })).toBe('provider_policy_denied');
    expect(await failed({ modelAllow: ['acme-ai/other'] })).toBe('provider_policy_denied');
    expect(calls).toBe(0);
    expect(await failed({ maxCostUsd: 1, modelAllow: ['acme-ai/fable-1'] })).toBeUndefined();
  });

  it('counts what a fork itself spends', async () => {
    await open();
    const { runId } = await runOf([ask('a'), ask('b')]);
    const used = (await eventsOf(runId)).findIndex(({ type }) => type === 'provider.usage');
    const overlay = { configurable: { budget: { maxTokens: 1_000 } } };

    const forked = await test.host.runs.fork(alice, runId, { mode: 'branch', fromSeq: used + 2, overlay });
    const forkId = forked !== undefined && 'runId' in forked ? forked.runId : '';
    const { status, metrics } = await ended(forkId);

    expect(status).toBe('completed');
    expect(metrics?.openwopCost?.tokens).toEqual({ input: 2_000, output: 200 });
    const { costs } = await test.host.costs.report(alice, { by: 'run', limit: 10 });
    expect(costs.find((row) => row.runId === forkId)?.calls).toBe(1);
  });

  it.each<[JsonObject, string]>([
    [{ maxTokens: 0 }, 'configurable.budget.maxTokens'],
    [{ maxCostUsd: -1 }, 'configurable.budget.maxCostUsd'],
    [{ maxRetries: 1 }, 'configurable.budget.maxRetries'],
    [{ onExhaustion: 'interrupt' }, 'configurable.budget.onExhaustion'],
    [{ maxMoney: 1 }, 'configurable.budget.maxMoney'],
  ])('is refused where it is not one that is kept: %j', async (budget, field) => {
    await open();
    await test.register({ nodes: [ask('a')] }, 'work');

    const creation = test.run('work', { configurable: { budget } });

    await expect(creation).rejects.toMatchObject({ code: 'validation_error', details: { field } });
  });
});

describe('the budget of a tenant', () => {
  it('ends its runs, of this process at once, and no one else’s', async () => {
    await open({ default: { day: { maxTokens: 1_100 } }, '*': { month: { maxTokens: 1e9 } } });
    await runOf([ask('a')]);

    const { runId, snapshot } = await runOf([ask('a')]);

    expect(snapshot.error).toMatchObject({
      code: 'budget_exhausted',
      message: expect.stringContaining('The tenant for this day may spend 1100 tokens'),
      details: { scope: 'tenant-day', consumed: 1_100 },
    });
    expect(calls).toBe(1);
    await expectEqualReplay(runId);
  });
});
