import { COST_REPORT_GROUPS, HostError, PriceListSchema } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { integerParam, type Query, queryOf, textParam } from '../../http/query.ts';

const parsePrices = bodyParser(PriceListSchema);
const DEFAULT_LIMIT = 100;

/** What model calls have cost, and the prices by which they do. */
export const costRoutes: Routes = (serve, { host }) => {
  serve('getCosts', async (request, reply) => {
    const query = queryOf(request);
    const report = await host.costs.report(callerOf(request), {
      by: groupOf(query),
      since: textParam(query, 'since'),
      until: textParam(query, 'until'),
      limit: integerParam(query, 'limit', { min: 1, max: 1_000 }) ?? DEFAULT_LIMIT,
    });
    return sendJson(reply, 200, JSON.stringify(report));
  });

  serve('listPrices', async (_request, reply) =>
    sendJson(reply, 200, JSON.stringify({ lists: await host.costs.listPrices() })),
  );

  serve('setPrices', async (request, reply) => {
    const summary = await host.costs.setPrices(callerOf(request), parsePrices(request.body));
    return sendJson(reply, 200, JSON.stringify(summary));
  });

  serve('removePrices', async (request, reply) => {
    const isRemoved = await host.costs.removePrices(callerOf(request), pathParam(request, 'priceList'));
    if (!isRemoved) throw new HostError('not_found', 'There is no price list of this name.');
    return reply.code(204).send();
  });
};

function groupOf(query: Query): (typeof COST_REPORT_GROUPS)[number] {
  const text = textParam(query, 'by') ?? 'day';
  const group = COST_REPORT_GROUPS.find((known) => known === text);
  if (group !== undefined) return group;
  throw new HostError(
    'validation_error',
    `The parameter "by" must be one of ${COST_REPORT_GROUPS.join(', ')}.`,
    { field: 'by', supported: [...COST_REPORT_GROUPS] },
  );
}
