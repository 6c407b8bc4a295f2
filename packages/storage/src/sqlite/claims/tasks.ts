import type { LeasedTask, StoredTask, Tasks } from '@weft/engine';
import { type Connection, inTransaction } from '../file/connection.ts';
import { runIdBytes } from '../runs/codec.ts';

interface TaskRow {
  readonly ord: number;
  readonly id: string;
  readonly run: string;
  readonly epoch: number;
  readonly tenant: string;
  readonly type: string;
  readonly version: string;
  readonly once: number;
  readonly body: string;
  readonly lease: number;
  readonly holder: number | null;
  readonly losses: number;
  readonly note: string | null;
  readonly result: string | null;
}

export interface TaskNews {
  readonly offered: () => void;
  readonly changed: (runId: string) => void;
}

/** The file has one owner, so its own workers are found without these; a host that is embedded twice over one store may need them. */
export function prepareTasks(connection: Connection, news: TaskNews): Omit<Tasks, 'watchTasks'> {
  const { db, holders, clock } = connection;
  const findRun = db.prepare<{ rid: number }>(
    'SELECT rid FROM runs WHERE id = ? AND epoch = ? AND status < 6',
  );
  const put = db.prepare(
    `INSERT INTO tasks (id, rid, run, epoch, tenant, type, version, once, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch`,
  );
  const findFree = db.prepare<TaskRow>(
    `SELECT tasks.* FROM tasks JOIN runs USING (rid)
     WHERE tasks.tenant = ? AND tasks.type = ? AND tasks.version = ? AND result IS NULL AND status < 6
       AND runs.epoch = tasks.epoch ORDER BY ord`,
  );
  const take = db.prepare(
    `UPDATE tasks SET losses = losses + (holder IS NOT NULL), holder = ?, lease = lease + 1, note = NULL
     WHERE ord = ?`,
  );
  const find = db.prepare<TaskRow>('SELECT * FROM tasks WHERE id = ?');
  const findOfRun = db.prepare<TaskRow>('SELECT * FROM tasks WHERE rid = ? ORDER BY ord');
  const findRid = db.prepare<{ rid: number }>('SELECT rid FROM runs WHERE id = ?');
  const note = db.prepare('UPDATE tasks SET note = ? WHERE ord = ?');
  const settle = db.prepare('UPDATE tasks SET result = coalesce(result, ?) WHERE ord = ?');
  const giveBack = db.prepare(
    'UPDATE tasks SET holder = NULL, note = NULL, losses = losses + ? WHERE ord = ?',
  );
  const remove = db.prepare('DELETE FROM tasks WHERE ord = ?');

  const isTaken = ({ holder }: TaskRow): boolean =>
    holder !== null && holders.alive(holder, clock()) !== undefined;

  function heldUnder(taskId: string, lease: number): TaskRow | undefined {
    const row = find.get(taskId);
    return row !== undefined && row.lease === lease && row.holder !== null ? row : undefined;
  }

  function mayLease(row: TaskRow): boolean {
    if (isTaken(row)) return false;
    return row.once === 0 || (row.losses === 0 && row.holder === null);
  }

  return {
    async offerTask({ taskId, runId, epoch, tenant, typeId, version, isOnce, body }) {
      const id = runIdBytes(runId);
      const run = id && findRun.get(id, epoch);
      if (!run) return false;
      inTransaction(connection, () =>
        put.run(taskId, run.rid, runId, epoch, tenant, typeId, version, isOnce ? 1 : 0, body),
      );
      news.offered();
      return true;
    },
    async claimTasks(holder, tenant, types, limit) {
      const free = types
        .flatMap(({ typeId, version }) => findFree.all(tenant, typeId, version).filter(mayLease))
        .sort((a, b) => a.ord - b.ord)
        .slice(0, limit);
      if (free.length === 0) return [];
      inTransaction(connection, () => {
        for (const { ord } of free) take.run(holders.numberOf(holder), ord);
      });
      return free.map(leasedFrom);
    },
    async noteTask(taskId, lease, text) {
      const row = heldUnder(taskId, lease);
      if (row) inTransaction(connection, () => note.run(text, row.ord));
    },
    async settleTask(taskId, lease, result) {
      const row = heldUnder(taskId, lease);
      if (!row) return false;
      inTransaction(connection, () => settle.run(result, row.ord));
      news.changed(row.run);
      return true;
    },
    async returnTask(taskId, lease, isLost) {
      const row = heldUnder(taskId, lease);
      if (!row || row.result !== null) return;
      inTransaction(connection, () => giveBack.run(isLost ? 1 : 0, row.ord));
      news.changed(row.run);
      news.offered();
    },
    async withdrawTask(taskId, epoch, unlessTaken) {
      const row = find.get(taskId);
      if (!row || row.epoch !== epoch) return false;
      if (unlessTaken && (row.result !== null || isTaken(row))) return false;
      inTransaction(connection, () => remove.run(row.ord));
      news.changed(row.run);
      return true;
    },
    async readTasks(runIds) {
      return runIds.flatMap((runId) => {
        const id = runIdBytes(runId);
        const run = id && findRid.get(id);
        return run ? findOfRun.all(run.rid).map((row) => storedFrom(row, isTaken(row))) : [];
      });
    },
  };

  function storedFrom(row: TaskRow, isHeld: boolean): StoredTask {
    const holder = isHeld && row.holder !== null ? holders.alive(row.holder, clock()) : undefined;
    return {
      taskId: row.id,
      runId: row.run,
      epoch: row.epoch,
      lease: row.lease,
      losses: row.losses + (row.holder !== null && !isHeld && row.result === null ? 1 : 0),
      ...(holder !== undefined && { holder }),
      ...(row.note !== null && { note: row.note }),
      ...(row.result !== null && { result: row.result }),
    };
  }
}

/** As it is after it was taken. */
function leasedFrom(row: TaskRow): LeasedTask {
  return {
    taskId: row.id,
    tenant: row.tenant,
    runId: row.run,
    typeId: row.type,
    version: row.version,
    epoch: row.epoch,
    isOnce: row.once !== 0,
    body: row.body,
    lease: row.lease + 1,
  };
}

/** Nobody of an earlier owner has a task any more. */
export function freeAllTasks(connection: Connection): void {
  inTransaction(connection, () =>
    connection.db.exec(
      'UPDATE tasks SET holder = NULL, note = NULL, losses = losses + 1 WHERE holder IS NOT NULL AND result IS NULL',
    ),
  );
}
