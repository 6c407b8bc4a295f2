import { Type } from 'typebox';
import {
  COST_REPORT_GROUPS,
  CostReportSchema,
  PriceListSchema,
  PriceListsSchema,
  PriceListSummarySchema,
} from '../documents/agents/costs.ts';
import { describeRoutes } from './route-description.ts';

const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

/** What model calls have cost, and the prices by which they do. */
export const COST_ROUTES = describeRoutes({
  getCosts: {
    scope: 'runs:read',
    summary: 'What the model calls of the tenant’s runs have used and cost, by day, workflow, model or run.',
    query: [
      { name: 'by', description: 'Default: day.', schema: Type.Enum([...COST_REPORT_GROUPS]) },
      { name: 'since', description: 'The first UTC day. Default: 30 days up to `until`.', schema: day },
      { name: 'until', description: 'The last UTC day. Default: today.', schema: day },
      {
        name: 'limit',
        description: 'The most groups. Default: 100.',
        schema: Type.Integer({ minimum: 1, maximum: 1_000 }),
      },
    ],
    responses: { 200: { description: 'The sums.', schema: CostReportSchema } },
    errors: ['validation_error'],
  },
  listPrices: {
    scope: 'manifest:read',
    summary: 'The price lists by which model calls are priced.',
    responses: { 200: { description: 'All of them, without their prices.', schema: PriceListsSchema } },
    errors: [],
  },
  setPrices: {
    scope: 'host:admin',
    summary:
      'Keeps a price list, in place of one of the same name. Calls that are on record keep their cost.',
    request: { schema: PriceListSchema, required: true },
    responses: { 200: { description: 'It holds from the next call on.', schema: PriceListSummarySchema } },
    errors: ['validation_error', 'conflict', 'payload_too_large'],
  },
  removePrices: {
    scope: 'host:admin',
    summary: 'Removes a price list. Calls that are on record keep their cost.',
    responses: { 204: { description: 'Removed.' } },
    errors: ['not_found'],
  },
});
