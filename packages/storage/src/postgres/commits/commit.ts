import { setTimeout as pause } from 'node:timers/promises';
import {
  type Refusal,
  type RunUnit,
  UnstorableTextError,
  type WriteResult,
  type WriteUnit,
} from '@weft/engine';
import type { Backend, Connection } from '../connections/connection.ts';
import { type Draft, newDraft } from './draft.ts';
import { isAboutUnits, isServerError, meaningOf } from '../connections/errors.ts';
import { findGroup, hasFittingId } from './find-group.ts';
import { evaluateUnit } from './evaluate-unit.ts';
import type { Origins } from '../runs/origins.ts';
import { plainStatement, plainUnits } from './plain-group.ts';
import type { Pool } from '../connections/pool.ts';
import type { Statement } from '../runs/rows.ts';
import type { DecidedBy, InDoubtUnits } from './was-committed.ts';
import { writeStatements } from './write-group.ts';

/** For tests: commanded just before and just after the group becomes durable; one that throws makes the outcome unknown. */
export interface PostgresFaults {
  beforeCommit?: (() => void) | undefined;
  afterCommit?: (() => void) | undefined;
}

export interface CommitOptions {
  readonly schema: string;
  readonly clock: (() => number) | undefined;
  readonly faults: PostgresFaults;
  readonly origins: Origins;
}

export interface Committed {
  readonly results: readonly WriteResult[];
  readonly appended: ReadonlyMap<string, number>;
  readonly commanded: ReadonlyMap<string, number>;
  /** Batch ids of units whose fate is not known, and who decides it. */
  readonly inDoubt: ReadonlyMap<string, DecidedBy>;
}

const ATTEMPTS = 6;
/** When so many units in a row fail alone, it is not them. */
const MOST_FAILURES = 3;
/** Needs all that a write needs, and changes nothing. */
const TOUCH = 'DELETE FROM settings WHERE false';
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();
const SILENT = { appended: NOTHING, commanded: NOTHING };

/** One attempt at a group: over, or known to have written nothing and worth another. */
type Attempt = { readonly committed: Committed } | { readonly again: unknown };

/**
 * A plain group (plain-group.ts) is one statement, and so one round trip. Units that it leaves out are refused for a reason that
 * only a look can tell; they go the other way, as does the whole group when the server refuses the statement. When the
 * connection is lost, it is asked what was written, and the rest goes the other way, too.
 *
 * Any other group is one transaction of two round trips: lock and read; then, after every unit was evaluated, write and COMMIT. Its fate:
 *
 * 1. COMMIT is answered with COMMIT: what was evaluated is durable.
 * 2. The server refuses a statement: it has rolled everything back, and the COMMIT sent along changes nothing. Without room every
 *    unit is refused as `store_full`; after a lost race, a deadlock or a timeout the whole group is tried again. What stays, such
 *    as a text that the server does not take, is about one of the units: then each is committed for itself, and the one that fails
 *    again, while the server takes others, is `failed`.
 * 3. The connection is lost before COMMIT was sent: nothing was written, and the group is tried again on another one. When there
 *    is none to be had, that is thrown.
 * 4. The connection is lost after COMMIT was sent: every unit is `unknown`, a refused one too, because what it was refused for
 *    may be lost with the group. The transaction's id is kept: while it is active, its outcome is unknown.
 */
export function prepareCommit(
  pool: Pool,
  inDoubt: InDoubtUnits,
  options: CommitOptions,
): (units: readonly WriteUnit[]) => Promise<Committed> {
  async function commitGroup(units: readonly WriteUnit[]): Promise<Committed> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await pool.use((connection) => attemptGroup(connection, units, options));
      if ('committed' in outcome) return outcome.committed;
      if (attempt >= ATTEMPTS) throw outcome.again;
      await pause(Math.random() * 5 * 2 ** attempt);
    }
  }

  async function commitAlone(unit: WriteUnit): Promise<Committed> {
    if (!hasFittingId(unit)) return failed(new TypeError('A run id must be a UUID in lower case.'));
    try {
      return await commitGroup([unit]);
    } catch (cause) {
      if (!isAboutUnits(cause)) throw cause;
      return failed(cause);
    }
  }

  /** The unit that PostgreSQL cannot take must not take the others with it. */
  async function commitEach(units: readonly WriteUnit[]): Promise<Committed> {
    const parts: Committed[] = [];
    let failures = 0;
    for (const unit of units) {
      const cause = causeOf(parts.at(-1));
      const part: Committed = failures < MOST_FAILURES ? await commitAlone(unit) : unknown([unit], cause);
      parts.push(part);
      failures = part.results[0]?.state === 'failed' ? failures + 1 : 0;
    }
    const all = joined(parts);
    const takesOthers = all.results.some(({ state }) => state === 'committed') || (await isWritable());
    return takesOthers ? all : { ...all, results: all.results.map(asUnknown) };
  }

  /** Whether the server takes anything at all. */
  async function isWritable(): Promise<boolean> {
    try {
      await pool.use((connection) => connection.query(TOUCH));
      return true;
    } catch {
      return false;
    }
  }

  async function commitJudged(units: readonly WriteUnit[]): Promise<Committed> {
    try {
      return await commitGroup(units);
    } catch (error) {
      if (!isAboutUnits(error)) throw error;
      return commitEach(units);
    }
  }

  async function commitPlain(units: readonly RunUnit[]): Promise<Committed> {
    const outcome = await pool.use((connection) => attemptPlain(connection, units, options));
    switch (outcome.state) {
      case 'answered':
        return withRest(units, ({ runId }) => !outcome.leftOut.has(runId));
      case 'refused':
        return commitJudged(units);
      case 'unknown':
        return unknown(units, outcome.cause);
      case 'lost':
        return commitAfterLoss(units, outcome);
    }
  }

  async function commitAfterLoss(units: readonly RunUnit[], { backend, cause }: Lost): Promise<Committed> {
    const written = new Set<RunUnit>();
    try {
      inDoubt.add(inDoubtOf(units, { backend }));
      for (const unit of units) if (await inDoubt.wasCommitted(unit)) written.add(unit);
    } catch {
      // Without a connection the outcome is unknown; a later call may find it.
      return unknown(units, cause, { backend });
    }
    return withRest(units, (unit) => written.has(unit));
  }

  /** What was written is committed; the rest is evaluated, and written or refused. */
  async function withRest(
    units: readonly RunUnit[],
    isWritten: (unit: RunUnit) => boolean,
  ): Promise<Committed> {
    const appended = new Map<string, number>();
    const rest: RunUnit[] = [];
    for (const unit of units) {
      if (!isWritten(unit)) rest.push(unit);
      else if (unit.events.length > 0) appended.set(unit.runId, unit.expectedSeq + unit.events.length);
    }
    if (rest.length === 0)
      return { results: units.map(() => COMMITTED), appended, commanded: NOTHING, inDoubt: NOTHING };
    const evaluated = await commitJudged(rest);
    const resultOfRest = new Map(rest.map((unit, index) => [unit, evaluated.results[index]]));
    return {
      ...evaluated,
      results: units.map((unit) => resultOfRest.get(unit) ?? COMMITTED),
      appended: new Map([...appended, ...evaluated.appended]),
    };
  }

  return async (units) => {
    if (units.length === 0) return { results: [], ...SILENT, inDoubt: NOTHING };
    if (!units.every(hasFittingId)) return commitEach(units);
    const plain = plainUnits(units);
    return plain === undefined ? commitJudged(units) : commitPlain(plain);
  };
}

interface Lost {
  readonly backend: Backend;
  readonly cause: unknown;
}

type PlainAttempt =
  | { readonly state: 'answered'; readonly leftOut: ReadonlySet<string> }
  /** Nothing was written. */
  | { readonly state: 'refused' }
  | { readonly state: 'unknown'; readonly cause: unknown }
  | ({ readonly state: 'lost' } & Lost);

/** The statement is a transaction of its own: it is answered when that is durable. */
async function attemptPlain(
  connection: Connection,
  units: readonly RunUnit[],
  { faults, origins }: CommitOptions,
): Promise<PlainAttempt> {
  const { text, values } = plainStatement(units, origins);
  if (!connection.isOpen()) return { state: 'refused' };
  try {
    faults.beforeCommit?.();
  } catch (cause) {
    return { state: 'unknown', cause };
  }
  let leftOut: readonly { readonly id: string }[];
  try {
    leftOut = await connection.query<{ id: string }>(text, values);
  } catch (cause) {
    if (isServerError(cause) || cause instanceof UnstorableTextError) return { state: 'refused' };
    connection.destroy(cause instanceof Error ? cause : new Error(String(cause)));
    return { state: 'lost', backend: connection.backend, cause };
  }
  try {
    faults.afterCommit?.();
  } catch (cause) {
    return { state: 'unknown', cause };
  }
  return { state: 'answered', leftOut: new Set(leftOut.map(({ id }) => id)) };
}

function joined(parts: readonly Committed[]): Committed {
  return {
    results: parts.flatMap(({ results }) => results),
    appended: new Map(parts.flatMap(({ appended }) => [...appended])),
    commanded: new Map(parts.flatMap(({ commanded }) => [...commanded])),
    inDoubt: new Map(parts.flatMap(({ inDoubt }) => [...inDoubt])),
  };
}

async function attemptGroup(
  connection: Connection,
  units: readonly WriteUnit[],
  options: CommitOptions,
): Promise<Attempt> {
  let draft: Draft;
  try {
    draft = newDraft(await findGroup(connection, units, options));
  } catch (error) {
    return nothingWritten(connection, units, error);
  }
  let evaluated: Evaluated;
  try {
    evaluated = evaluateGroup(draft, units, options);
  } catch (error) {
    await rollback(connection);
    throw error;
  }
  try {
    options.faults.beforeCommit?.();
  } catch (cause) {
    await rollback(connection);
    return { committed: unknown(units, cause, draft.found) };
  }
  return writeGroup(connection, units, options.faults, evaluated);
}

interface Evaluated {
  readonly draft: Draft;
  readonly results: readonly WriteResult[];
  /** What writes the group; COMMIT last. Complete before the first of them is sent. */
  readonly statements: readonly Statement[];
}

function evaluateGroup(draft: Draft, units: readonly WriteUnit[], options: CommitOptions): Evaluated {
  const results = units.map((unit) => resultOf(evaluateUnit(draft, unit)));
  const statements = [...writeStatements(draft, options), { text: 'COMMIT', values: [] }];
  return { draft, results, statements };
}

async function writeGroup(
  connection: Connection,
  units: readonly WriteUnit[],
  faults: PostgresFaults,
  { draft, results, statements }: Evaluated,
): Promise<Attempt> {
  try {
    const tags = await connection.runAll(statements);
    if (tags.at(-1) !== 'COMMIT') throw new Error(`PostgreSQL answered COMMIT with ${tags.at(-1)}.`);
    faults.afterCommit?.();
  } catch (error) {
    return isServerError(error) || error instanceof UnstorableTextError
      ? nothingWritten(connection, units, error)
      : { committed: unknown(units, error, draft.found) };
  }
  const { appended, commanded } = draft.writes;
  return { committed: { results, appended, commanded, inDoubt: NOTHING } };
}

async function nothingWritten(
  connection: Connection,
  units: readonly WriteUnit[],
  error: unknown,
): Promise<Attempt> {
  await rollback(connection);
  switch (meaningOf(error)) {
    case 'full':
      return {
        committed: {
          results: units.map(() => ({ state: 'refused', reason: 'store_full' })),
          ...SILENT,
          inDoubt: NOTHING,
        },
      };
    case 'again':
    case 'lost':
      return { again: error };
    case 'mistake':
      throw error;
  }
}

/** Never fails: a connection on which it cannot be done is gone, and its transaction with it. */
async function rollback(connection: Connection): Promise<void> {
  try {
    if (connection.isOpen()) await connection.query('ROLLBACK');
  } catch (error) {
    connection.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

function unknown(units: readonly WriteUnit[], cause: unknown, decidedBy?: DecidedBy): Committed {
  const inDoubt = decidedBy === undefined ? NOTHING : inDoubtOf(units, decidedBy);
  return { results: units.map(() => ({ state: 'unknown', cause })), ...SILENT, inDoubt };
}

function failed(cause: unknown): Committed {
  return { results: [{ state: 'failed', cause }], ...SILENT, inDoubt: NOTHING };
}

function asUnknown(result: WriteResult): WriteResult {
  return result.state === 'failed' ? { state: 'unknown', cause: result.cause } : result;
}

function causeOf(part: Committed | undefined): unknown {
  const result = part?.results[0];
  return result !== undefined && 'cause' in result ? result.cause : undefined;
}

function inDoubtOf(units: readonly WriteUnit[], decidedBy: DecidedBy): ReadonlyMap<string, DecidedBy> {
  return new Map(units.map(({ batchId }) => [batchId, decidedBy]));
}

const COMMITTED: WriteResult = { state: 'committed' };

function resultOf(refusal: Refusal | undefined): WriteResult {
  return refusal ? { state: 'refused', ...refusal } : COMMITTED;
}
