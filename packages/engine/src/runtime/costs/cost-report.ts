import { type CostReport, HostError } from '@weft/protocol';
import { dayFrom, dayOf, dayText } from '../../core/costs/days.ts';
import { usdText } from '../../core/costs/money.ts';
import type { Costs } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CostRow, Store } from '../../ports/store.ts';

/** Rows of one run, day and model that a report looks at; of more, the newest days. */
const MOST_ROWS = 100_000;
const MOST_DAYS = 366;
const USUAL_DAYS = 30;

export function createCostReport(
  store: Pick<Store, 'readCosts'>,
  clock: Pick<Clock, 'now'>,
): Costs['report'] {
  return async ({ tenant }, { by, since, until, limit }) => {
    const lastDay = until === undefined ? dayOf(clock.now()) : dayOfParameter('until', until);
    const fromDay = since === undefined ? lastDay - USUAL_DAYS + 1 : dayOfParameter('since', since);
    if (fromDay > lastDay)
      throw new HostError('validation_error', '"since" must not be after "until".', { field: 'since' });
    if (lastDay - fromDay >= MOST_DAYS) {
      throw new HostError('validation_error', `At most ${MOST_DAYS} days fit between "since" and "until".`, {
        field: 'since',
        limit: MOST_DAYS,
      });
    }
    const range = { fromDay, untilDay: lastDay + 1, most: MOST_ROWS };
    const { rows, hasMore, countedSince } = await store.readCosts(tenant, { ...range, by, limit });
    const total = (await store.readCosts(tenant, { ...range, by: 'total', limit: 1 })).rows[0];
    return {
      by,
      since: dayText(fromDay),
      until: dayText(lastDay),
      currency: 'USD',
      costs: rows.map(rendered),
      total: total === undefined ? NOTHING : sumsOf(total),
      hasMore,
      ...(countedSince !== undefined && { countedSince: dayText(countedSince) }),
    };
  };
}

const NOTHING: CostReport['total'] = { calls: 0, tokens: { input: 0, output: 0 }, unpricedCalls: 0 };

function rendered(row: CostRow): CostReport['costs'][number] {
  const { day, workflowId, runId, provider, model } = row;
  return {
    ...(day !== undefined && { day: dayText(day) }),
    ...(workflowId !== undefined && { workflowId }),
    ...(runId !== undefined && { runId }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...sumsOf(row),
  };
}

/** Where no call had a price there is no cost, not one of nothing. */
function sumsOf({ calls, inputTokens, outputTokens, nanoUsd, unpricedCalls }: CostRow): CostReport['total'] {
  return {
    calls,
    tokens: { input: inputTokens, output: outputTokens },
    ...(unpricedCalls < calls && { usd: usdText(nanoUsd) }),
    unpricedCalls,
  };
}

function dayOfParameter(field: string, text: string): number {
  const day = dayFrom(text);
  if (day !== undefined) return day;
  throw new HostError('validation_error', `"${field}" must be a day, such as 2026-11-18.`, { field });
}
