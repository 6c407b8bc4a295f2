import { isJsonObject, type JsonObject } from '@weft/protocol';
import {
  eachEvent,
  events,
  numbered,
  omit,
  payloads,
  repeatedEvents,
  run,
  swapped,
  withoutEvents,
} from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { CREATE, POLL, SNAPSHOT } from '../../mutants/targets.ts';

const isUsage = ({ type }: JsonObject): boolean => type === 'provider.usage';

export const COSTS_MUTANTS: readonly Mutant[] = [
  {
    id: 'costs/usage-lost',
    breaks: 'calls are not recorded',
    caughtBy: ['costs/usage', 'costs/budget'],
    says: /exactly one provider\.usage/,
    on: POLL,
    answer: withoutEvents('provider.usage'),
  },
  {
    id: 'costs/usage-twice',
    breaks: 'a call is recorded twice',
    caughtBy: ['costs/usage'],
    says: /exactly one provider\.usage/,
    on: POLL,
    answer: repeatedEvents(isUsage),
  },
  {
    id: 'costs/usage-late',
    breaks: 'a call is recorded after its node has completed',
    caughtBy: ['costs/usage'],
    says: /comes before node\.completed/,
    on: POLL,
    answer: events((all) => {
      const [usage, completed] = [
        all.findIndex(isUsage),
        all.findIndex(({ type }) => type === 'node.completed'),
      ];
      return usage < 0 || completed < 0 ? all : numbered(swapped(all, usage, completed));
    }),
  },
  {
    id: 'costs/usage-of-something-else',
    breaks: 'tokens are counted otherwise than by the provider',
    caughtBy: ['costs/usage'],
    says: /inputTokens are those of the provider/,
    on: POLL,
    answer: payloads('provider.usage', (payload) => ({ ...payload, inputTokens: 1 })),
  },
  {
    id: 'costs/usage-without-model',
    breaks: 'the model is not named',
    caughtBy: ['costs/usage'],
    says: /has the model/,
    on: POLL,
    answer: payloads('provider.usage', (payload) => omit(payload, 'model')),
  },
  {
    id: 'costs/no-sum',
    breaks: 'the snapshot has no costs',
    caughtBy: ['costs/sum'],
    says: /has metrics\.openwopCost/,
    on: SNAPSHOT,
    answer: run((snapshot) => omit(snapshot, 'metrics')),
  },
  {
    id: 'costs/any-attribute',
    breaks: 'attributes reach the snapshot whatever they are called',
    caughtBy: ['costs/sum'],
    says: /the declared members alone/,
    on: SNAPSHOT,
    answer: run((snapshot) => withCost(snapshot, { evil: 'must-be-dropped' })),
  },
  {
    id: 'costs/sum-off',
    breaks: 'the sum is rounded to cents',
    caughtBy: ['costs/sum'],
    says: /usd is what was reported/,
    on: SNAPSHOT,
    answer: run((snapshot) => withCost(snapshot, { usd: 0 })),
  },
  {
    id: 'costs/attribute-in-log',
    breaks: 'attributes that were dropped stand in the log',
    caughtBy: ['costs/sum'],
    says: /not in the log/,
    on: POLL,
    answer: payloads('provider.usage', (payload) => ({
      ...payload,
      provider: 'NEVER-SECRET-cost-attr-leak',
    })),
  },
  {
    id: 'costs/budget-ignored',
    breaks: 'budgets are ignored',
    caughtBy: ['costs/budget', 'costs/budget-enough'],
    says: /ends as failed|status 400/,
    on: CREATE,
    request: sent((body) => {
      const { configurable } = body;
      return isJsonObject(configurable) ? { ...body, configurable: omit(configurable, 'budget') } : body;
    }),
  },
  {
    id: 'costs/budget-not-reserved',
    breaks: 'the budget in force is not recorded',
    caughtBy: ['costs/budget'],
    says: /budget\.reserved is in the log/,
    on: POLL,
    answer: withoutEvents('budget.reserved'),
  },
  {
    id: 'costs/one-call-more',
    breaks: 'the call is made that the budget does not allow',
    caughtBy: ['costs/budget'],
    says: /no call is made once the budget is spent/,
    on: POLL,
    answer: repeatedEvents(isUsage),
  },
  {
    id: 'costs/breach-without-dimension',
    breaks: 'the breach of a budget is one of node executions',
    caughtBy: ['costs/budget'],
    says: /kind of the breach is budget-tokens/,
    on: POLL,
    answer: payloads('cap.breached', (payload) => ({ ...payload, kind: 'node-executions' })),
  },
  {
    id: 'costs/exhausted-after-breach',
    breaks: 'what is exhausted is reported after the breach',
    caughtBy: ['costs/budget'],
    says: /budget\.exhausted comes before cap\.breached/,
    on: POLL,
    answer: eachEvent((event) => {
      if (event['type'] === 'budget.exhausted') return { ...event, type: 'cap.breached' };
      return event['type'] === 'cap.breached' ? { ...event, type: 'budget.exhausted' } : event;
    }),
  },
];

function withCost(snapshot: JsonObject, more: JsonObject): JsonObject {
  const { metrics } = snapshot;
  if (!isJsonObject(metrics ?? null)) return snapshot;
  const { openwopCost } = metrics as JsonObject;
  if (!isJsonObject(openwopCost ?? null)) return snapshot;
  return { ...snapshot, metrics: { openwopCost: { ...(openwopCost as JsonObject), ...more } } };
}
