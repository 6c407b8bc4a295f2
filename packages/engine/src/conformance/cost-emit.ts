import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { fromNanoUsd, MOST_NANO_USD, toNanoUsd } from '../core/costs/money.ts';
import { costName, tokenCount } from '../core/costs/usage-rows.ts';
import type { EffectNodeType } from '../model/node-type.ts';
import { closedConfig, jsonObject } from '../nodes/config/config-schema.ts';

/** Costs as attributes, as a caller names them: those on the list are recorded as a call, all others are dropped. */
export const costEmitNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'conformance.cost.emit',
  title: 'Cost emit',
  summary: 'Tells a cost as if a model had been called; attributes that are not on the list are dropped.',
  config: closedConfig({ attrs: jsonObject }),
  outputPorts: [],
  conformanceOnly: true,
  perform: ({ nodeId, config }) => {
    const attributes = isJsonObject(config['attrs']) ? config['attrs'] : {};
    return Promise.resolve({
      outputs: {},
      events: [{ type: 'provider.usage', payload: { ...usageOf(attributes), nodeId } }],
    });
  },
};

function usageOf(attributes: JsonObject): JsonObject {
  const of = (name: string): Json | undefined => attributes[`openwop.cost.${name}`];
  const inputTokens = tokenCount(of('tokens.input'));
  const outputTokens = tokenCount(of('tokens.output'));
  const usd = of('usd');
  const isCost = typeof usd === 'number' && usd >= 0 && toNanoUsd(usd) <= MOST_NANO_USD;
  return {
    provider: textOf(of('provider')),
    model: textOf(of('model')),
    inputTokens,
    outputTokens,
    totalTokens: Math.max(tokenCount(of('tokens.total')), inputTokens + outputTokens),
    ...(isCost && { costEstimateUsd: fromNanoUsd(toNanoUsd(usd)), currency: 'USD' }),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? costName(value) : 'unnamed';
}
