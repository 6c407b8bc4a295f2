import { expect, it } from 'vitest';
import { log } from './testing/events.ts';
import { rollupOf, usageAt, usdText } from './usage.ts';

const call = (model: string, inputTokens: number, more: object = {}) => ({
  provider: 'p',
  model,
  inputTokens,
  outputTokens: 1,
  ...more,
});
const events = log(
  ['node.started', 'a'],
  ['provider.usage', 'a', call('small', 10)],
  ['provider.usage', 'a', call('large', 100, { costEstimateUsd: 0.5, cacheReadTokens: 60 })],
  ['provider.usage', 'b', call('large', 200, { costEstimateUsd: 0.25 })],
);

it('adds up what models have used, by model and by node, the most expensive first', () => {
  const { total, byModel, byNode } = usageAt(events, 3);

  expect(total).toEqual({ calls: 3, inputTokens: 310, outputTokens: 3, cachedTokens: 60, usd: 0.75 });
  expect(byModel.map(({ name, calls, usd }) => [name, calls, usd])).toEqual([
    ['p / large', 2, 0.75],
    ['p / small', 1, undefined],
  ]);
  expect(byNode.map(({ name, usd }) => [name, usd])).toEqual([
    ['a', 0.5],
    ['b', 0.25],
  ]);
});

it('knows at an earlier moment nothing of later calls, and of no price no zero', () => {
  expect(usageAt(events, 1).total).toEqual({ calls: 1, inputTokens: 10, outputTokens: 1, cachedTokens: 0 });
  expect(usageAt(events, 0).total.calls).toBe(0);
});

it('reads the rollup of the host by the names of the protocol', () => {
  const run = { runId: 'r', workflowId: 'w', status: 'completed' as const };
  const openwopCost = {
    usd: 0.1,
    tokens: { input: 3, output: 4 },
    model: 'm',
    provider: 'p',
    duration_ms: 12,
  };

  expect(rollupOf({ ...run, metrics: { openwopCost } })).toEqual({ usd: 0.1, tokens: 7, durationMs: 12 });
  expect(rollupOf(run)).toBeUndefined();
});

it.each([
  [0, '$0'],
  [0.001234, '$0.00123'],
  [12.345, '$12.35'],
])('writes %d dollars as %s', (usd, text) => {
  expect(usdText(usd)).toBe(text);
});
