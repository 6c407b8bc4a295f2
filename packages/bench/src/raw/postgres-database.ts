import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { nodeNumber, type RawDatabase, type RawRow, type RawUnit, toEvent, TYPES } from './database.ts';

/** More transactions at the same time do not make one server on two cores faster. */
export const PARALLEL_GROUPS = 4;

const SCHEMA = `
  CREATE TABLE runs (rid bigint PRIMARY KEY, id bytea NOT NULL UNIQUE, created_at bigint NOT NULL, is_over boolean NOT NULL,
    next_seq int NOT NULL, tenant int NOT NULL, workflow int NOT NULL, batch bytea NOT NULL);
  CREATE TABLE events (rid bigint NOT NULL, seq int NOT NULL, type smallint NOT NULL, at int NOT NULL, node int,
    payload bytea NOT NULL, PRIMARY KEY (rid, seq));
`;

/** One statement per group, so one round trip and one sync, however many runs. */
const WRITE = `
  WITH created AS (
    INSERT INTO runs SELECT rid, id, at, is_over, next_seq, 1, 2, batch
    FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::boolean[], $5::int[], $6::bytea[])
      AS row (rid, id, at, is_over, next_seq, batch)
  ), moved AS (
    UPDATE runs SET is_over = row.is_over, next_seq = row.next_seq, batch = row.batch
    FROM unnest($7::bigint[], $8::boolean[], $9::int[], $10::bytea[]) AS row (rid, is_over, next_seq, batch)
    WHERE runs.rid = row.rid
  )
  INSERT INTO events SELECT * FROM unnest($11::bigint[], $12::int[], $13::smallint[], $14::int[], $15::int[], $16::bytea[])`;

/** `place` is the server's URL, # and the name of a schema that does not exist yet. */
export async function openRawPostgres(place: string): Promise<RawDatabase> {
  const [url = '', schema = 'sketch'] = place.split('#');
  const admin = postgres(url, { max: 1, onnotice: () => undefined });
  await admin.unsafe(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${SCHEMA}`);
  await admin.end();
  const sql = postgres(url, {
    max: PARALLEL_GROUPS + 2,
    onnotice: () => undefined,
    connection: { search_path: schema, synchronous_commit: 'on' },
  });
  return {
    async commit(units) {
      await sql.unsafe(WRITE, parametersOf(units), { prepare: true });
    },
    async read(runId) {
      const rows = await sql<(Omit<RawRow, 'payload' | 'at'> & { payload: Buffer; at: string })[]>`
        SELECT seq, type, runs.created_at + at AS at, node, payload FROM runs JOIN events USING (rid) WHERE id = ${runId}
        ORDER BY seq`;
      return rows.map((row) => toEvent({ ...row, at: Number(row.at), payload: row.payload.toString() }));
    },
    close: () => sql.end({ timeout: 1 }),
  };
}

function parametersOf(units: readonly RawUnit[]): string[] {
  const created = units.filter(({ create }) => create !== undefined);
  const moved = units.filter(({ create }) => create === undefined);
  const events = units.flatMap((unit) => unit.events.map((event) => ({ ...event, rid: unit.rid })));
  const nextSeq = ({ events: own }: RawUnit) => (own.at(-1)?.seq ?? -1) + 1;
  return [
    created.map(({ rid }) => rid),
    created.map(({ create }) => hex(create?.runId ?? Buffer.alloc(0))),
    created.map(({ create }) => create?.at ?? 0),
    created.map(({ isOver }) => isOver),
    created.map(nextSeq),
    created.map(() => hex(randomBytes(16))),
    moved.map(({ rid }) => rid),
    moved.map(({ isOver }) => isOver),
    moved.map(nextSeq),
    moved.map(() => hex(randomBytes(16))),
    events.map(({ rid }) => rid),
    events.map(({ seq }) => seq),
    events.map(({ type }) => TYPES.indexOf(type)),
    events.map(({ afterMs }) => afterMs),
    events.map(({ nodeId }) => nodeNumber(nodeId) ?? 'NULL'),
    events.map(({ payload }) => hex(Buffer.from(payload))),
  ].map((column) => `{${column.join(',')}}`);
}

/** Quoted, because a backslash means something inside an array's text. */
function hex(bytes: Buffer): string {
  return `"\\\\x${bytes.toString('hex')}"`;
}
