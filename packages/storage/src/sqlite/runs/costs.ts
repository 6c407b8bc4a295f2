import type { CostQuery, CostSums, UsageRow } from '@weft/engine';
import { openCostSums } from '@weft/engine/store-rules';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connection } from '../file/connection.ts';
import { runIdBytes, runIdText } from './codec.ts';

/** Rows that are read before others get their turn. */
const SCAN_STEP = 2_000;

export interface Costs {
  /** Only inside a transaction. */
  add(tenant: string, runId: string, rows: readonly UsageRow[]): void;
  /** Takes the run's id away. Only inside a transaction. */
  detach(run: Uint8Array): void;
  read(tenant: string, query: CostQuery): Promise<CostSums>;
}

interface StoredCost {
  readonly id: number;
  readonly day: number;
  readonly workflowId: string;
  readonly run: Uint8Array | null;
  readonly provider: string;
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: number;
  readonly unpricedCalls: number;
}

const UPSERT = `
  INSERT INTO costs (tenant, day, workflow, run, provider, model, calls, input_tokens, output_tokens, nano_usd, unpriced_calls)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run, day, provider, model) WHERE run IS NOT NULL DO UPDATE SET calls = calls + excluded.calls,
    input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
    nano_usd = nano_usd + excluded.nano_usd, unpriced_calls = unpriced_calls + excluded.unpriced_calls`;

const NEXT = `
  SELECT id, day, workflow AS workflowId, run, provider, model, calls, input_tokens AS inputTokens,
    output_tokens AS outputTokens, nano_usd AS nanoUsd, unpriced_calls AS unpricedCalls
  FROM costs WHERE tenant = ? AND day >= ? AND (day, id) < (?, ?) ORDER BY day DESC, id DESC LIMIT ?`;

export function prepareCosts({ db, strings }: Connection): Costs {
  const upsert = db.prepare(UPSERT);
  const detach = db.prepare('UPDATE costs SET run = NULL WHERE run = ?');
  const next = db.prepare<StoredCost>(NEXT);

  return {
    add(tenant, runId, rows) {
      const owner = strings.numberOf(tenant);
      const run = runIdBytes(runId) ?? null;
      for (const row of rows) {
        const { day, workflowId, provider, model, calls, inputTokens, outputTokens } = row;
        const used = [calls, inputTokens, outputTokens, row.nanoUsd, row.unpricedCalls];
        upsert.run(owner, day, workflowId, run, provider, model, ...used);
      }
    },
    detach: (run) => void detach.run(run),
    async read(tenant, query) {
      const sums = openCostSums(query);
      const owner = strings.find(tenant);
      if (owner === undefined) return sums.result(undefined);
      let place: Pick<StoredCost, 'day' | 'id'> = { day: query.untilDay, id: 0 };
      for (let seen = 0; ; ) {
        // One more than is counted, to know whether there are more.
        const size = Math.min(SCAN_STEP, query.most - seen + 1);
        const rows = next.all(owner, query.fromDay, place.day, place.id, size);
        for (const { run, ...row } of rows) {
          seen += 1;
          if (seen > query.most) return sums.result(place.day);
          sums.add({ ...row, runId: run === null ? undefined : runIdText(run) });
          place = row;
        }
        if (rows.length < size) return sums.result(undefined);
        await nextTurn();
      }
    },
  };
}
