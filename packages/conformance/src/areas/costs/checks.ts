import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { errorOf, ofType, outline, payloadOf } from '../events/log.ts';

const SPEAK = 'conformance-stream-text';
const TWICE = 'conformance-budget';
const EMIT = 'openwop-smoke-cost-emit';
const USAGE = { promptTokens: 7, completionTokens: 3, totalTokens: 10 };
const MOCK = { id: 'stream-text', config: { tokens: ['one', ' two'], usage: USAGE } };
/** What the snapshot may say of costs. */
const MEMBERS = ['usd', 'tokens', 'model', 'provider', 'duration_ms'];
/** What the fixture plants under names that are not on the list. */
const PLANTED = ['must-be-dropped', 'NEVER-SECRET-cost-attr-leak'];

export const COSTS_CHECKS: readonly Check[] = [
  {
    id: 'costs/usage',
    title: 'a call of a model leaves one provider.usage before the end of its node',
    proves: ['PEER-13'],
    needs: { fixtures: [SPEAK] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun(SPEAK, { configurable: { mockProvider: MOCK } });

      const events = await runs.events(runId);

      const usages = ofType(events, 'provider.usage');
      expect.that(usages.length === 1, 'a call leaves exactly one provider.usage', outline(events));
      const usage = payloadOf(usages[0]);
      for (const member of ['provider', 'model'])
        expect.string(usage[member], `provider.usage has the ${member}`);
      expect.equal(usage['inputTokens'], USAGE.promptTokens, 'inputTokens are those of the provider');
      expect.equal(usage['outputTokens'], USAGE.completionTokens, 'outputTokens are those of the provider');
      const completed = events.findIndex(({ type }) => type === 'node.completed');
      expect.that(
        usages[0] !== undefined && events.indexOf(usages[0]) < completed,
        'provider.usage comes before node.completed',
        outline(events),
      );
    },
  },
  {
    id: 'costs/sum',
    title: 'the snapshot of a run has the sum of its usage, in the declared members alone',
    proves: ['PEER-14'],
    needs: { fixtures: [EMIT] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.endedRun(EMIT);

      const snapshot = await runs.snapshot(runId);
      const events = await runs.events(runId);

      const cost = costOf(context, snapshot);
      expect.equal(cost['usd'], 0.00123, 'usd is what was reported');
      expect.equal(cost['tokens'] ?? null, { input: 100, output: 50 }, 'tokens are what was reported');
      for (const text of PLANTED) {
        expect.absent(
          JSON.stringify(snapshot),
          text,
          'attributes that are not on the list are not in the snapshot',
        );
        expect.absent(JSON.stringify(events), text, 'attributes that are not on the list are not in the log');
      }
      const ended = ofType(events, 'node.completed').length;
      expect.that(ended === 1, 'the node completes once', outline(events));
    },
  },
  {
    id: 'costs/budget',
    title: 'a budget is reserved at the start, and ends the run before the call that it does not allow',
    proves: ['PEER-15', 'CAP-19'],
    needs: { fixtures: [TWICE] },
    async run(context) {
      const { runs, expect } = context;
      const maxTokens = 5;
      const configurable = { mockProvider: MOCK, budget: { maxTokens } };
      const runId = await runs.create(TWICE, { configurable });

      const ended = await runs.ended(runId);

      expect.equal(ended['status'], 'failed', 'a run that has spent its budget ends as failed');
      expect.equal(errorOf(ended)['code'], 'budget_exhausted', 'the error of the run is budget_exhausted');
      const events = await runs.events(runId);
      const types = events.map(({ type }) => String(type));
      expectOrder(context, types, [
        'budget.reserved',
        'node.started',
        'provider.usage',
        'budget.exhausted',
        'cap.breached',
        'run.failed',
      ]);
      const reserved = payloadOf(ofType(events, 'budget.reserved')[0])['effectiveBudget'];
      expect.equal(objectOf(reserved)['maxTokens'], maxTokens, 'budget.reserved has the budget in force');
      expect.that(
        ofType(events, 'provider.usage').length === 1,
        'no call is made once the budget is spent',
        outline(events),
      );
      const { kind, limit, observed } = payloadOf(ofType(events, 'cap.breached')[0]);
      expect.equal(kind, 'budget-tokens', 'the kind of the breach is budget-tokens');
      expect.equal(limit, maxTokens, 'cap.breached has the limit that was given');
      expect.that(
        typeof observed === 'number' && observed > maxTokens,
        'observed is above the limit',
        observed,
      );
    },
  },
  {
    id: 'costs/budget-enough',
    title: 'a run within its budget completes, and a budget that is not valid is refused on creation',
    proves: ['PEER-15'],
    needs: { fixtures: [TWICE] },
    async run({ runs, expect }) {
      const within = { mockProvider: MOCK, budget: { maxTokens: 1_000 } };

      const runId = await runs.create(TWICE, { configurable: within });

      expect.equal((await runs.ended(runId))['status'], 'completed', 'a run within its budget completes');
      const breaches = ofType(await runs.events(runId), 'cap.breached').length;
      expect.that(breaches === 0, 'a run within its budget has no cap.breached', breaches);
      for (const budget of [
        { maxTokens: 0 },
        { maxCostUsd: -1 },
        { thresholdPercent: 101 },
        { maxTokenz: 5 },
      ])
        expect.envelope(await runs.tryCreate(TWICE, { configurable: { mockProvider: MOCK, budget } }), {
          status: [400, 422],
        });
    },
  },
];

function costOf({ expect }: CheckContext, { metrics }: JsonObject): JsonObject {
  const cost = expect.object(objectOf(metrics)['openwopCost'], 'the snapshot has metrics.openwopCost');
  const others = Object.keys(cost).filter((member) => !MEMBERS.includes(member));
  expect.that(others.length === 0, 'openwopCost has the declared members alone', others);
  return cost;
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value ?? null) ? (value as JsonObject) : {};
}

/** The first of each comes after the first of the one before it. */
function expectOrder({ expect }: CheckContext, types: readonly string[], order: readonly string[]): void {
  for (const [index, type] of order.entries()) {
    const at = types.indexOf(type);
    expect.that(at >= 0, `${type} is in the log`, types);
    const before = order[index - 1];
    if (before !== undefined)
      expect.that(types.indexOf(before) < at, `${before} comes before ${type}`, types);
  }
}
