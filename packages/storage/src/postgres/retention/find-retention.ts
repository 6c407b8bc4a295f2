import type { Command, WriteUnit } from '@weft/engine';
import { isRunId, type RecordColumns } from '../runs/codec.ts';
import { FIRST_TERMINAL } from '../../status-number.ts';
import type { Connection } from '../connections/connection.ts';
import type { Found } from '../commits/draft.ts';
import { keptRecord, ORIGIN } from '../runs/read-run.ts';
import { arrayText } from '../runs/rows.ts';

interface StoredKept extends RecordColumns {
  readonly parent: string | null;
  readonly is_parent_open: boolean;
}

const TARGETS = `SELECT runs.id, runs.tenant, runs.workflow, runs.created_at, runs.scope, ${ORIGIN}, runs.record, runs.sum,
  parents.id AS parent, parents.status < ${FIRST_TERMINAL} AS is_parent_open
  FROM runs LEFT JOIN runs AS parents ON parents.id = runs.parent WHERE runs.id = ANY ($1::uuid[])`;

const COMMANDS = `SELECT run, id, body FROM commands WHERE run = ANY ($1::uuid[]) AND kind IN ('resolve', 'channel', 'child')`;

/** Forks, forks of forks, and so on. */
const FORKS = `
  WITH RECURSIVE forks (source, id, is_open) AS (
    SELECT source, id, status < ${FIRST_TERMINAL} FROM runs WHERE source = ANY ($1::uuid[])
    UNION
    SELECT runs.source, runs.id, runs.status < ${FIRST_TERMINAL} FROM forks JOIN runs ON runs.source = forks.id
  )
  SELECT source, id, is_open AS "isOpen" FROM forks`;

/** Runs that the group would purge or erase. */
export function keptRuns(units: readonly WriteUnit[]): string[] {
  const ids = units.flatMap((unit) => (unit.kind === 'purge' || unit.kind === 'erase' ? [unit.runId] : []));
  return [...new Set(ids)].filter(isRunId);
}

/** What speaks against taking these runs away, and what is left of them when they are erased. */
export function findRetention(
  connection: Connection,
  ids: readonly string[],
  found: Pick<Found, 'targets' | 'forks'>,
): Promise<void> {
  const values = [arrayText(ids)];
  const targets = connection.query<StoredKept>(TARGETS, values);
  const commands = connection.query<{ run: string; id: string; body: string }>(COMMANDS, values);
  const forks = connection.query<{ source: string; id: string; isOpen: boolean }>(FORKS, values);
  return Promise.all([targets, commands, forks]).then(([targetRows, commandRows, forkRows]) => {
    for (const row of targetRows) {
      const { parent, is_parent_open: isOpen } = row;
      found.targets.set(row.id, {
        ...keptRecord(row),
        commands: commandRows
          .filter(({ run }) => run === row.id)
          .map(({ id, body }) => ({ id, command: JSON.parse(body) as Command })),
        ...(parent !== null && { parent: { id: parent, isOpen } }),
      });
    }
    for (const { source, ...fork } of forkRows)
      found.forks.set(source, [...(found.forks.get(source) ?? []), fork]);
  });
}
