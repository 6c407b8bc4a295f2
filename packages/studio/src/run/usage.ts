import { placeOf } from '@weft/engine/compare';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import type { RunDocument, RunEventDocument } from '@weft/sdk';

/** What language models have used, as `provider.usage` tells it: one event per call. */
export interface Usage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** Absent where no call had a price; 0 would be one. */
  readonly usd?: number;
}

export interface UsageRow extends Usage {
  readonly name: string;
}

export interface UsageTables {
  readonly total: Usage;
  readonly byModel: readonly UsageRow[];
  readonly byNode: readonly UsageRow[];
}

const NOTHING: Usage = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** Of the events up to and with this place in the log. */
export function usageAt(events: readonly RunEventDocument[], at: number): UsageTables {
  let total = NOTHING;
  const byModel = new Map<string, Usage>();
  const byNode = new Map<string, Usage>();
  const last = Math.min(at, events.length - 1);
  for (let index = 0; index <= last; index += 1) {
    const event = events[index];
    if (event?.type !== 'provider.usage' || !isJsonObject(event.payload)) continue;
    const used = usageOf(event.payload);
    const model = `${textOf(event.payload['provider'])} / ${textOf(event.payload['model'])}`;
    const node = placeOf(event) ?? 'the run itself';
    total = sum(total, used);
    byModel.set(model, sum(byModel.get(model) ?? NOTHING, used));
    byNode.set(node, sum(byNode.get(node) ?? NOTHING, used));
  }
  return { total, byModel: rowsOf(byModel), byNode: rowsOf(byNode) };
}

function usageOf(payload: JsonObject): Usage {
  const usd = payload['costEstimateUsd'];
  return {
    calls: 1,
    inputTokens: numberOf(payload['inputTokens']),
    outputTokens: numberOf(payload['outputTokens']),
    cachedTokens: numberOf(payload['cacheReadTokens']),
    ...(typeof usd === 'number' && { usd }),
  };
}

function sum(a: Usage, b: Usage): Usage {
  const usd = a.usd === undefined ? b.usd : a.usd + (b.usd ?? 0);
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    ...(usd !== undefined && { usd }),
  };
}

/** The most expensive first: by price, then by tokens. */
function rowsOf(usages: ReadonlyMap<string, Usage>): UsageRow[] {
  return [...usages]
    .map(([name, usage]) => ({ name, ...usage }))
    .toSorted((a, b) => (b.usd ?? 0) - (a.usd ?? 0) || tokensOf(b) - tokensOf(a));
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** What the host itself has added up, children included: `metrics.openwopCost` of the run. */
export interface CostRollup {
  readonly usd?: number;
  readonly tokens?: number;
  readonly durationMs?: number;
}

export function rollupOf(run: RunDocument): CostRollup | undefined {
  const { metrics } = run as JsonObject;
  const cost = isJsonObject(metrics) ? metrics['openwopCost'] : undefined;
  if (!isJsonObject(cost)) return undefined;
  const { usd, tokens, duration_ms: durationMs } = cost;
  return {
    ...(typeof usd === 'number' && { usd }),
    ...(isJsonObject(tokens) && { tokens: numberOf(tokens['input']) + numberOf(tokens['output']) }),
    ...(typeof durationMs === 'number' && { durationMs }),
  };
}

/** `$0.0123`; small amounts with as many digits as say something. */
export function usdText(usd: number): string {
  if (usd === 0) return '$0';
  return usd >= 1 ? `$${usd.toFixed(2)}` : `$${usd.toPrecision(3)}`;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : 'unknown';
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
