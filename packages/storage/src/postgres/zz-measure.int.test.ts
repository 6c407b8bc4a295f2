import { appendUnit, createUnit, newRunId } from '@weft/engine/store-contract';
import { it } from 'vitest';
import { openBell } from './bell.ts';
import { prepareCommit } from './commit.ts';
import { migrate } from './migrations.ts';
import { createPool } from './pool.ts';
import { testServer } from './postgres-test-server.ts';
const { server, newSchema } = testServer();
it('measures', async () => {
  for (const maxConnections of [1, 4, 10, 64]) {
    for (const round of [1, 2]) for (const mode of ['none', 'notify', 'notify+2 listeners', 'after']) {
      const options = { url: server().url, schema: newSchema(), maxConnections, statementTimeoutMs: 10000, connectTimeoutMs: 5000 };
      const pool = createPool(options);
      await pool.use((c) => migrate(c, options.schema));
      const bells = [await openBell(options), ...(mode.includes('2') ? [await openBell(options), await openBell(options)] : [])];
      const bell = bells[0]!;
      let heard = 0; for (const b of bells) b.watch(() => { heard += 1; });
      const inside = mode.startsWith('notify');
      const commit = prepareCommit(pool, { schema: options.schema, clock: undefined, faults: {}, bell: inside ? bell.notice : () => [] });
      let pending = new Map<string, number>(); let sending = false;
      async function flush() { if (sending) return; sending = true; while (pending.size) { const p = pending; pending = new Map(); const [s] = bell.notice(p); if (s) await pool.use((c) => c.run(s)); } sending = false; }
      const runs = Array.from({ length: 64 }, () => newRunId());
      await commit(runs.map((r) => createUnit(r, { holder: 'h' })));
      let n = 0; const lat: number[] = [];
      const warm = performance.now() + 500, until = warm + 2500;
      await Promise.all(runs.map(async (runId) => {
        for (let seq = 0; performance.now() < until; seq += 1) {
          const t = performance.now();
          const r = await commit([appendUnit(runId, seq)]);
          if (r.results[0]?.state !== 'committed') throw new Error(JSON.stringify(r.results));
          if (mode === 'after') { for (const [k, v] of r.rung) pending.set(k, v); void flush(); }
          if (t > warm) { n += 1; lat.push(performance.now() - t); }
        }
      }));
      lat.sort((a, b) => a - b);
      console.log(`pool ${maxConnections} round ${round} ${mode}: ${(n / 2.5).toFixed(0)}/s p50 ${lat[n >> 1]?.toFixed(1)} p99 ${lat[Math.floor(n * 0.99)]?.toFixed(1)} heard ${heard}`);
      for (const b of bells) b.close(); await pool.close();
    }
  }
}, 300000);
