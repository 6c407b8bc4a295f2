import type { Draft, Writes } from '../commits/draft.ts';
import { arrayText, insertInto, type Statement, updateRows } from '../runs/rows.ts';
import type { PurgeUnit } from '../commits/units.ts';

/** Sent after all other writes, so that what the same group wrote to the run goes with it. */
export function retentionStatements({ writes }: Draft): Statement[] {
  return [...purgeStatements(writes), ...eraseStatements(writes)];
}

const putTombstones = insertInto<PurgeUnit>(
  'tombstones',
  [
    ['run', 'uuid', ({ runId }) => runId],
    ['tenant', 'text', ({ tenant }) => tenant],
    ['purged_at', 'bigint', ({ at }) => at],
    ['until', 'bigint', ({ tombstoneUntil }) => tombstoneUntil],
  ],
  'ON CONFLICT (run) DO UPDATE SET tenant = excluded.tenant, purged_at = excluded.purged_at, until = excluded.until',
);

function purgeStatements({ purged }: Writes): Statement[] {
  const units = [...purged.values()];
  if (units.length === 0) return [];
  const runs = arrayText(units.map(({ runId }) => runId));
  const tenants = arrayText(units.map(({ tenant }) => tenant));
  const ofRuns = (table: string) => ({
    text: `DELETE FROM ${table} WHERE run = ANY ($1::uuid[])`,
    values: [runs],
  });
  return [
    ...['events', 'checkpoints', 'commands', 'blobs', 'outbox', 'run_tags', 'tasks'].map(ofRuns),
    {
      text: `DELETE FROM documents WHERE scope <> '' AND (tenant, scope) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      values: [tenants, runs],
    },
    { text: 'UPDATE costs SET run = NULL WHERE run = ANY ($1::uuid[])', values: [runs] },
    { text: 'DELETE FROM runs WHERE id = ANY ($1::uuid[])', values: [runs] },
    putTombstones(units),
  ];
}

type Erased = readonly [string, Writes['erased'] extends Map<string, infer Entry> ? Entry : never];

const eraseRecords = (entries: readonly Erased[]): Statement => ({
  text: `UPDATE runs SET origin = NULL, record = changed.record, sum = changed.sum,
      erased_at = coalesce(erased_at, changed.at)
    FROM unnest($1::uuid[], $2::text[], $3::int[], $4::bigint[]) AS changed (id, record, sum, at)
    WHERE runs.id = changed.id`,
  values: [
    arrayText(entries.map(([run]) => run)),
    arrayText(entries.map(([, { stored }]) => stored.record)),
    arrayText(entries.map(([, { stored }]) => stored.sum)),
    arrayText(entries.map(([, { unit }]) => unit.at)),
  ],
});

const eraseCommands = updateRows<{ run: string; id: string; body: string }>('commands', 2, [
  ['run', 'uuid', ({ run }) => run],
  ['id', 'text', ({ id }) => id],
  ['body', 'text', ({ body }) => body],
]);

function eraseStatements({ erased }: Writes): Statement[] {
  const entries = [...erased];
  if (entries.length === 0) return [];
  const runs = arrayText(entries.map(([run]) => run));
  const commands = entries.flatMap(([run, entry]) =>
    entry.commands.map(({ id, command }) => ({ run, id, body: JSON.stringify(command) })),
  );
  return [
    eraseRecords(entries),
    {
      text: 'UPDATE events SET overlay = NULL, overlay_sum = NULL WHERE run = ANY ($1::uuid[]) AND overlay IS NOT NULL',
      values: [runs],
    },
    { text: 'DELETE FROM checkpoints WHERE run = ANY ($1::uuid[])', values: [runs] },
    { text: 'DELETE FROM tasks WHERE run = ANY ($1::uuid[])', values: [runs] },
    ...(commands.length > 0 ? [eraseCommands(commands)] : []),
  ];
}
