import { HostError } from '@weft/protocol';

/** Why a file could not be opened as a store. Shown to the person who started the host, never to a client. */

export interface Owner {
  readonly pid: number;
  /** ISO time at which the owner opened the file. */
  readonly startedAt: string;
}

export class StoreInUseError extends Error {
  readonly owner: Owner | undefined;

  constructor(path: string, owner: Owner | undefined) {
    const who = owner ? `process ${owner.pid}, which opened it at ${owner.startedAt}` : 'another process';
    super(`${path} is in use by ${who}. Stop it first, or use another data folder.`);
    this.name = 'StoreInUseError';
    this.owner = owner;
  }
}

export class StoreTooNewError extends Error {
  readonly found: number;
  readonly supported: number;

  constructor(path: string, found: number, supported: number) {
    super(
      `${path} has schema version ${found}, but this program knows versions up to ${supported}. ` +
        'Upgrade the program, or restore a backup made before the file was upgraded.',
    );
    this.name = 'StoreTooNewError';
    this.found = found;
    this.supported = supported;
  }
}

export class NotAStoreError extends Error {
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(
      `${path} is ${what}. Name another file, or move this one away to start with an empty store.`,
      options,
    );
    this.name = 'NotAStoreError';
  }
}

const RETRY_AFTER_SECONDS = 60;

/** SQLite finds the file damaged: some of it can still be read and written, some cannot. */
export class StoreDamagedError extends HostError {
  constructor(cause: unknown) {
    super(
      'service_unavailable',
      'The database is damaged where this request needs it. Its operator must restore a backup.',
      { cause: 'store_damaged', retryAfter: RETRY_AFTER_SECONDS },
      { cause, retryAfter: RETRY_AFTER_SECONDS },
    );
    this.name = 'StoreDamagedError';
  }
}

/** What a store has lost, as far as the mark outside of it can tell (high-water-mark.ts). */
export type StoreLoss =
  | {
      readonly reason: 'commits_missing';
      readonly missingCommits: number;
      readonly acknowledgedAt: number;
      readonly reachedAt: number;
    }
  /** As many commits, but others: the file was exchanged, or continued elsewhere. */
  | { readonly reason: 'other_history'; readonly acknowledgedAt: number; readonly reachedAt: number }
  /** Without a time where only the folder shows that there was one. */
  | { readonly reason: 'database_missing'; readonly acknowledgedAt?: number }
  | { readonly reason: 'mark_unreadable' };

/** The database is not the one that acknowledged the last writes, or not all of it. */
export class StoreBehindError extends Error {
  readonly loss: StoreLoss;

  constructor(path: string, loss: StoreLoss) {
    super(lossText(path, loss));
    this.name = 'StoreBehindError';
    this.loss = loss;
  }
}

function lossText(path: string, loss: StoreLoss): string {
  switch (loss.reason) {
    case 'commits_missing':
      return (
        `${path} lacks ${loss.missingCommits === 1 ? 'the last commit that was' : `the last ${loss.missingCommits} commits that were`} acknowledged: the last one was made at ` +
        `${timeText(loss.acknowledgedAt)}, the database ends ${endText(loss.reachedAt)}. ` +
        `${path}-wal is missing, damaged or belongs to another moment`
      );
    case 'other_history':
      return (
        `${path} is not the database that acknowledged the last commit (${timeText(loss.acknowledgedAt)}); ` +
        `it ends ${endText(loss.reachedAt)}`
      );
    case 'database_missing':
      return `${path} is missing or empty, but ${whatWasHere(loss.acknowledgedAt)}`;
    case 'mark_unreadable':
      return `${path} is damaged: it no longer shows whether the database next to it holds everything that was acknowledged`;
  }
}

function whatWasHere(acknowledgedAt: number | undefined): string {
  return acknowledgedAt === undefined
    ? 'a host has used this folder before'
    : `a database that acknowledged commits until ${timeText(acknowledgedAt)} was here`;
}

function endText(at: number): string {
  return at === 0 ? 'before its first one' : `at ${timeText(at)}`;
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
