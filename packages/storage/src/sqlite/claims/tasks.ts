import type { LeasedTask, NewTask, StoredTask, Tasks, TaskType } from '@weft/engine';
import { type Connection, inTransaction } from '../file/connection.ts';
import { runIdBytes } from '../runs/codec.ts';

interface TaskRow {
  readonly ord: number;
  readonly rid: number;
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
  const { db, holders, clock, knownRuns } = connection;
  const findRun = db.prepare<{ rid: number }>(
    'SELECT rid FROM runs WHERE id = ? AND epoch = ? AND status < 6',
  );
  const insert = db.prepare(
    `INSERT INTO tasks (id, rid, run, epoch, tenant, type, version, once, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch`,
  );
  const park = db.prepare(
    `UPDATE runs SET holder = NULL, epoch = epoch + 1, wake_at = ?1, due_at = CASE WHEN inbox > 0 THEN 0 ELSE ?1 END
     WHERE id = ?2 AND epoch = ?3 AND holder IS NOT NULL AND status < 6`,
  );
  const wake = db.prepare(
    'UPDATE runs SET wake_at = 0, due_at = 0 WHERE rid = ? AND holder IS NULL AND status < 6',
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

  function put(
    rid: number,
    { taskId, runId, tenant, typeId, version, isOnce, body }: NewTask,
    epoch: number,
  ) {
    insert.run(taskId, rid, runId, epoch, tenant, typeId, version, isOnce ? 1 : 0, body);
  }

  /** No more are read than are taken: many thousands may wait. */
  function freeOf(tenant: string, { typeId, version }: TaskType, limit: number): TaskRow[] {
    const found: TaskRow[] = [];
    for (const row of findFree.iterate(tenant, typeId, version)) {
      if (found.length === limit) break;
      if (mayLease(row)) found.push(row);
    }
    return found;
  }

  function mayLease(row: TaskRow): boolean {
    if (isTaken(row)) return false;
    return row.once === 0 || (row.losses === 0 && row.holder === null);
  }

  return {
    async offerTask(task) {
      const id = runIdBytes(task.runId);
      const run = id && findRun.get(id, task.epoch);
      if (!run) return false;
      inTransaction(connection, () => put(run.rid, task, task.epoch));
      news.offered();
      return true;
    },
    async parkRun({ runId, epoch, wakeAt }, tasks) {
      const id = runIdBytes(runId);
      const run = id && findRun.get(id, epoch);
      if (!run || findOfRun.all(run.rid).some((row) => row.result !== null || isTaken(row))) return false;
      const isParked = inTransaction(connection, () => {
        if (park.run(wakeAt, id, epoch).changes === 0) return false;
        for (const task of tasks) put(run.rid, task, epoch + 1);
        return true;
      });
      knownRuns.forget(runId);
      if (isParked) news.offered();
      return isParked;
    },
    async claimTasks(holder, tenant, types, limit) {
      const free = types
        .flatMap((type) => freeOf(tenant, type, limit))
        .sort((a, b) => a.ord - b.ord)
        .slice(0, limit);
      if (free.length === 0) return [];
      inTransaction(connection, () => {
        for (const { ord, rid } of free) {
          take.run(holders.numberOf(holder), ord);
          wake.run(rid);
        }
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

/**
 * No process of an earlier owner has a task any more, but a worker may: it is leased again when its run, which is due, has been taken up by
 * one that knows how long to wait.
 */
export function freeAllTasks(connection: Connection): void {
  inTransaction(connection, () =>
    connection.db.exec(
      `UPDATE tasks SET holder = NULL, note = NULL, losses = losses + 1, epoch = -1
       WHERE holder IS NOT NULL AND result IS NULL`,
    ),
  );
}
