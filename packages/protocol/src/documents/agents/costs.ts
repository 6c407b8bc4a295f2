import { type Static, Type } from 'typebox';
import { closed, count, dateTime, nameOf, nonEmpty, open } from '../schema-parts.ts';

const optional = Type.Optional;

export const COST_REPORT_GROUPS = ['day', 'workflow', 'model', 'run'] as const;

const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A UTC day.' });
const usd = Type.String({
  pattern: '^\\d+(\\.\\d{1,9})?$',
  description: 'US dollars as decimal text, of the calls that had a price; absent when none had.',
});

const sums = {
  calls: count,
  tokens: open({ input: count, output: count }),
  usd: optional(usd),
  unpricedCalls: Type.Integer({ minimum: 0, description: 'Calls of models for which no price was known.' }),
};

export const CostReportSchema = open({
  by: Type.Enum([...COST_REPORT_GROUPS]),
  since: day,
  until: day,
  currency: Type.Literal('USD'),
  costs: Type.Array(
    open({
      day: optional(day),
      workflowId: optional(nonEmpty),
      runId: optional(Type.String({ description: 'Absent for runs that were deleted.' })),
      provider: optional(nonEmpty),
      model: optional(nonEmpty),
      ...sums,
    }),
    { description: 'By day the newest first, else the dearest first.' },
  ),
  total: open(sums, 'Of all that was counted, also where `costs` leaves something out.'),
  hasMore: Type.Boolean({ description: 'There are more groups than `limit`.' }),
  countedSince: optional(
    Type.String({ description: 'Earlier days were not counted, because there is so much.' }),
  ),
});

const price = Type.String({
  pattern: '^\\d{1,7}(\\.\\d{1,6})?$',
  description: 'US dollars a million tokens, as decimal text.',
});

export const PriceListSchema = closed({
  name: nameOf({ minLength: 1, maxLength: 128 }),
  date: day,
  licence: nameOf({ minLength: 1, maxLength: 200 }),
  source: optional(nameOf({ minLength: 1, maxLength: 1_000 })),
  currency: Type.Literal('USD'),
  models: Type.Record(
    Type.String({ pattern: '^[!-.0-~]{1,128}/[!-~]{1,256}$' }),
    closed({
      inputPerMillion: price,
      outputPerMillion: price,
      cacheReadPerMillion: optional(price),
      cacheWritePerMillion: optional(price),
    }),
    {
      description: 'By PROVIDER/MODEL, the provider as the config file of the host names it.',
      maxProperties: 5_000,
      additionalProperties: false,
    },
  ),
});

export const PriceListSummarySchema = open({
  name: nonEmpty,
  date: day,
  licence: nonEmpty,
  source: optional(nonEmpty),
  currency: Type.Literal('USD'),
  models: Type.Integer({ minimum: 0, description: 'How many it has prices for.' }),
  importedAt: dateTime,
});

export const PriceListsSchema = open({
  lists: Type.Array(PriceListSummarySchema, {
    description: 'The newest date first: it goes before the others.',
  }),
});

export type CostReport = Static<typeof CostReportSchema>;
export type PriceListDocument = Static<typeof PriceListSchema>;
export type PriceListSummary = Static<typeof PriceListSummarySchema>;
