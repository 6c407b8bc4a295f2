import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServer } from '@weft/storage/postgres-test-server';
import { it } from 'vitest';
import { clusterNodes } from './testing/cluster-nodes.ts';
import { clusterWorkflows } from './testing/cluster-workflows.ts';
import { openCountingServer } from './testing/counting-server.ts';
import { killWorkflows } from './testing/kill-workflows.ts';

const { server, openSession } = testServer();
it('measure', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-measure-'));
  const world = await openCountingServer(() => 0);
  mkdirSync(join(folder, 'workflows'));
  for (const each of [...clusterWorkflows(world.port), ...killWorkflows(world.port)])
    writeFileSync(join(folder, 'workflows', `${String(each['id'])}.json`), JSON.stringify(each));
  const session = openSession();
  for (const [workflowId, count, width] of [['quick', 2000, 1], ['quick', 4000, 64], ['kill-mixed', 300, 1], ['kill-mixed', 1000, 64]] as const) {
    const schema = `m_${workflowId.replace('-', '_')}_${width}`;
    const cluster = clusterNodes({ storeUrl: server().url, schema, folder, flags: ['--workflows', join(folder, 'workflows'), '--allow-egress', `127.0.0.1:${world.port}`, '--log-level', 'warn'] });
    await cluster.start(0);
    const state = async () => (await session.unsafe(`SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS wal, (SELECT sum(xact_commit) FROM pg_stat_database) AS commits, (SELECT wal_sync FROM pg_stat_wal) AS syncs`).catch(async () => session.unsafe(`SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS wal, (SELECT sum(xact_commit) FROM pg_stat_database) AS commits, 0 AS syncs`)))[0] as unknown as { wal: string; commits: string; syncs: string };
    await session.unsafe('SELECT pg_stat_force_next_flush()');
    const before = await state();
    const stats = async () => (await cluster.call(0, 'GET', '/v1/host/weft/stats')).json as unknown as { commits: number; committedUnits: number };
    const s0 = await stats();
    const t0 = Date.now();
    let next = 0;
    await Promise.all(Array.from({ length: width }, async () => {
      while (next < count) { next += 1; const id = await cluster.create(0, workflowId, { inputs: { tag: `t${next}` } }); if (workflowId !== 'quick') await cluster.reaches(0, id, 'completed'); }
    }));
    const ms = Date.now() - t0;
    const s1 = await stats();
    await new Promise((r) => setTimeout(r, 1500));
    const after = await state();
    const [sizes] = await session.unsafe(`SELECT (SELECT count(*) FROM ${schema}.runs) AS runs, (SELECT count(*) FROM ${schema}.events) AS events,
      pg_relation_size('${schema}.events') AS ev, pg_indexes_size('${schema}.events') AS evi, pg_relation_size('${schema}.runs') AS ru, pg_indexes_size('${schema}.runs') AS rui,
      (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = '${schema}' AND relkind = 'r') AS total`);
    console.log('M', workflowId, width, JSON.stringify({ ms, perSecond: Math.round(count / ms * 1000), commitsHost: (s1.commits - s0.commits) / count, units: (s1.committedUnits - s0.committedUnits) / count, walPerRun: (Number(after.wal) - Number(before.wal)) / count, pgCommits: (Number(after.commits) - Number(before.commits)) / count, syncs: (Number(after.syncs) - Number(before.syncs)) / count, sizes }));
    await cluster.stop();
  }
  await world.close();
});
