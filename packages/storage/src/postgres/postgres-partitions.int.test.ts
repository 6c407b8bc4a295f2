import { readFileSync } from 'node:fs';
import { appendUnit, createUnit, event, events, given, readAll } from '@weft/engine/store-contract';
import { expect, it } from 'vitest';
import { testServer } from './testing/postgres-test-server.ts';

const { newSchema, openSession, openStore } = testServer();
const GUIDE = new URL('../../../../docs/guide/sizing.md', import.meta.url);

/** A run id of this time, as hosts make them. */
function runIdAt(time: string): string {
  const digits = Date.parse(time).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${'0'.repeat(12)}`;
}

it('works on an event table that was partitioned as the guide says, and finds what was there before', async () => {
  const schema = newSchema();
  const [sql = ''] = /(?<=```sql\n).*?(?=```)/s.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const [before, within, later] = [
    '2026-12-31T23:59:59Z',
    '2027-01-01T00:00:00Z',
    '2027-09-01T00:00:00Z',
  ].map(runIdAt) as [string, string, string];
  const first = await openStore(schema);
  await given(first, createUnit(before, { holder: 'h1', events: events(0, 3) }));
  await first.close();

  await openSession().unsafe(sql.replace('search_path = weft', `search_path = ${schema}`));
  const second = await openStore(schema);
  await given(second, appendUnit(before, 3, { events: [event(3, 'log')] }));
  for (const runId of [within, later])
    await given(second, createUnit(runId, { holder: 'h1', events: events(0, 2) }));

  expect(await readAll(second, before)).toHaveLength(4);
  expect(await readAll(second, within)).toHaveLength(2);
  const counts = await openSession().unsafe<{ place: string; n: number }[]>(
    `SELECT tableoid::regclass::text AS place, count(*)::int AS n FROM ${schema}.events GROUP BY 1 ORDER BY 1`,
  );
  expect(counts.map(({ place, n }) => [place.split('.').at(-1), n])).toEqual([
    ['events_2027_01', 2],
    ['events_before', 4],
    ['events_later', 2],
  ]);
});
