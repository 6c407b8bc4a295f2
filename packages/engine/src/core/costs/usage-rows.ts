import { foldPayload } from '../../model/run-event.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import { addUsage } from '../../ports/cost-sums.ts';
import type { StoredEvent, UsageRow } from '../../ports/store.ts';
import { fromStored } from '../fold/from-stored.ts';
import { dayOf } from './days.ts';
import { toNanoUsd } from './money.ts';

const LONGEST_NAME = 256;
const MOST_TOKENS = 1e12;

/**
 * What the calls on record in these events add to the costs of a run, by UTC day and model. A replay repeats what its source has
 * spent and spends nothing. Undefined for nearly every batch.
 */
export function usageRows(record: CreationRecord, events: readonly StoredEvent[]): UsageRow[] | undefined {
  let rows: Map<string, UsageRow> | undefined;
  for (const stored of events) {
    if (stored.type !== 'provider.usage') continue;
    if (record.fork?.mode === 'replay') return undefined;
    const row = rowOf(record, stored);
    if (row === undefined) continue;
    const key = JSON.stringify([row.day, row.provider, row.model]);
    rows ??= new Map();
    const known = rows.get(key);
    rows.set(key, known === undefined ? row : addUsage(known, row));
  }
  return rows && [...rows.values()];
}

function rowOf({ runId, workflowId }: CreationRecord, stored: StoredEvent): UsageRow | undefined {
  const event = fromStored(stored, runId);
  if (event.type !== 'provider.usage') return undefined;
  const { provider, model, inputTokens, outputTokens, costEstimateUsd } = foldPayload(event);
  const isPriced = typeof costEstimateUsd === 'number';
  return {
    day: dayOf(stored.at),
    workflowId,
    provider: costName(provider),
    model: costName(model),
    calls: 1,
    inputTokens: tokenCount(inputTokens),
    outputTokens: tokenCount(outputTokens),
    nanoUsd: isPriced ? toNanoUsd(costEstimateUsd) : 0,
    unpricedCalls: isPriced ? 0 : 1,
  };
}

/** Names of models come from outside; here they are part of keys. */
export function costName(text: unknown): string {
  const name = String(text)
    .slice(0, LONGEST_NAME)
    .toWellFormed()
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  return name === '' ? 'unnamed' : name;
}

export function tokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MOST_TOKENS
    ? value
    : 0;
}
