import type { LeasedTask, NewTask, StoredTask, Tasks } from '@weft/engine';
import type { Notifier } from '../connections/notifier.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { isRunId } from './codec.ts';
import { arrayText, type Scalar } from './rows.ts';

const OFFER = `INSERT INTO tasks (id, run, epoch, tenant, type, version, once, body)
  SELECT $1::text, id, epoch, $4::text, $5::text, $6::text, $7::boolean, $8::text
  FROM runs WHERE id = $2::uuid AND epoch = $3::int AND status < 6
  ON CONFLICT (id) DO UPDATE SET epoch = greatest(tasks.epoch, excluded.epoch) RETURNING 1`;

const isTaken = (now: string) =>
  `EXISTS (SELECT 1 FROM holders WHERE name = tasks.holder AND deadline > ${now})`;

/**
 * Locks the tasks before the run, as a claim of tasks does. The epoch grows, so that a claim that began before this, and takes the run for
 * held, leaves them alone.
 */
const PARK = `
  WITH own AS (
    SELECT result IS NOT NULL OR ${isTaken(nowSql(1))} AS is_taken FROM tasks WHERE run = $2::uuid FOR UPDATE
  ),
  parked AS (
    UPDATE runs SET holder = NULL, epoch = epoch + 1, wake_at = $4::bigint,
      due_at = CASE WHEN inbox > 0 THEN 0 ELSE $4::bigint END
    WHERE id = $2::uuid AND epoch = $3::int AND holder IS NOT NULL AND status < 6
      AND NOT EXISTS (SELECT 1 FROM own WHERE is_taken)
    RETURNING id, epoch
  )
  INSERT INTO tasks (id, run, epoch, tenant, type, version, once, body)
  SELECT task.id, parked.id, parked.epoch, tenant, type, version, once, body
  FROM parked CROSS JOIN unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::text[])
    AS task (id, tenant, type, version, once, body)
  ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch RETURNING 1`;

const CLAIM = `
  WITH free AS (
    SELECT tasks.id, run FROM tasks JOIN runs ON runs.id = tasks.run AND runs.epoch = tasks.epoch AND status < 6
    WHERE tasks.tenant = $3::text AND result IS NULL
      AND (type, version) IN (SELECT * FROM unnest($4::text[], $5::text[]))
      AND (tasks.holder IS NULL OR NOT ${isTaken(nowSql(1))})
      AND NOT (once AND (losses > 0 OR tasks.holder IS NOT NULL))
    ORDER BY tasks.ord LIMIT $6::int FOR UPDATE OF tasks SKIP LOCKED
  ),
  left_runs AS (
    SELECT id FROM runs WHERE id IN (SELECT run FROM free) AND holder IS NULL AND status < 6
    ORDER BY id FOR NO KEY UPDATE
  ),
  woken AS (UPDATE runs SET wake_at = 0, due_at = 0 FROM left_runs WHERE runs.id = left_runs.id)
  UPDATE tasks SET losses = losses + CASE WHEN holder IS NULL THEN 0 ELSE 1 END, holder = $2::text,
    lease = lease + 1, note = NULL
  FROM free WHERE tasks.id = free.id
  RETURNING tasks.ord, tasks.id, tasks.run, epoch, tenant, type, version, once, body, lease`;

const HELD = 'id = $1::text AND lease = $2::int AND holder IS NOT NULL';
const NOTE = `UPDATE tasks SET note = $3::text WHERE ${HELD}`;
const SETTLE = `UPDATE tasks SET result = coalesce(result, $3::text) WHERE ${HELD} RETURNING run`;
const RETURN = `UPDATE tasks SET holder = NULL, note = NULL, losses = losses + $3::int
  WHERE ${HELD} AND result IS NULL RETURNING run`;
const WITHDRAW = `DELETE FROM tasks WHERE id = $2::text AND epoch = $3::int
  AND (NOT $4::boolean OR (result IS NULL AND (holder IS NULL OR NOT ${isTaken(nowSql(1))}))) RETURNING run`;
const READ = `SELECT id, run, epoch, lease, note, result,
    losses + (holder IS NOT NULL AND result IS NULL AND NOT ${isTaken(nowSql(1))})::int AS losses,
    CASE WHEN ${isTaken(nowSql(1))} THEN holder END AS holder
  FROM tasks WHERE run = ANY ($2::uuid[]) ORDER BY ord`;

interface LeasedRow {
  readonly ord: number;
  readonly id: string;
  readonly run: string;
  readonly epoch: number;
  readonly tenant: string;
  readonly type: string;
  readonly version: string;
  readonly once: boolean;
  readonly body: string;
  readonly lease: number;
}

interface TaskRow {
  readonly id: string;
  readonly run: string;
  readonly epoch: number;
  readonly lease: number;
  readonly losses: number;
  readonly holder: string | null;
  readonly note: string | null;
  readonly result: string | null;
}

/** Tasks on their way between processes. Every write is one statement, durable before it is answered. */
export function prepareTasks(
  pool: Pool,
  notifier: Pick<Notifier, 'publishCommands' | 'publishTasks' | 'watchTasks'>,
  clock: (() => number) | undefined,
): Tasks {
  const now = () => clock?.() ?? null;
  const query = <Row>(text: string, values: readonly Scalar[]) =>
    pool.use((connection) => connection.query<Row>(text, values));

  /** Notifies the holder of the run, wherever it is, and the holders of its tasks. */
  function tell(rows: readonly { readonly run: string }[]): boolean {
    if (rows.length > 0) notifier.publishCommands(new Map(rows.map(({ run }) => [run, 0])));
    return rows.length > 0;
  }

  return {
    async offerTask({ taskId, runId, epoch, tenant, typeId, version, isOnce, body }) {
      if (!isRunId(runId)) return false;
      const values = [taskId, runId, epoch, tenant, typeId, version, isOnce, body];
      const isUp = (await query(OFFER, values)).length > 0;
      if (isUp) notifier.publishTasks();
      return isUp;
    },
    async parkRun({ runId, epoch, wakeAt }, tasks) {
      if (!isRunId(runId)) return false;
      const column = (read: (task: NewTask) => string | boolean) => arrayText(tasks.map(read));
      const isParked =
        (
          await query(PARK, [
            now(),
            runId,
            epoch,
            wakeAt,
            column(({ taskId }) => taskId),
            column(({ tenant }) => tenant),
            column(({ typeId }) => typeId),
            column(({ version }) => version),
            column(({ isOnce }) => isOnce),
            column(({ body }) => body),
          ])
        ).length > 0;
      if (isParked) notifier.publishTasks();
      return isParked;
    },
    async claimTasks(holder, tenant, types, limit) {
      if (types.length === 0) return [];
      const rows = await query<LeasedRow>(CLAIM, [
        now(),
        holder,
        tenant,
        arrayText(types.map(({ typeId }) => typeId)),
        arrayText(types.map(({ version }) => version)),
        limit,
      ]);
      return [...rows].sort((a, b) => a.ord - b.ord).map(leasedFrom);
    },
    async noteTask(taskId, lease, note) {
      await query(NOTE, [taskId, lease, note]);
    },
    async settleTask(taskId, lease, result) {
      return tell(await query<{ run: string }>(SETTLE, [taskId, lease, result]));
    },
    async returnTask(taskId, lease, isLost) {
      if (tell(await query<{ run: string }>(RETURN, [taskId, lease, isLost ? 1 : 0])))
        notifier.publishTasks();
    },
    async withdrawTask(taskId, epoch, unlessTaken) {
      return tell(await query<{ run: string }>(WITHDRAW, [now(), taskId, epoch, unlessTaken]));
    },
    async readTasks(runIds) {
      const rows = await query<TaskRow>(READ, [now(), arrayText(runIds.filter(isRunId))]);
      return rows.map(storedFrom);
    },
    watchTasks: notifier.watchTasks,
  };
}

function leasedFrom({ id, run, type, once, epoch, tenant, version, body, lease }: LeasedRow): LeasedTask {
  return { taskId: id, tenant, runId: run, typeId: type, version, epoch, isOnce: once, body, lease };
}

function storedFrom({ id, run, epoch, lease, losses, holder, note, result }: TaskRow): StoredTask {
  return {
    taskId: id,
    runId: run,
    epoch,
    lease,
    losses,
    ...(holder !== null && { holder }),
    ...(note !== null && { note }),
    ...(result !== null && { result }),
  };
}
