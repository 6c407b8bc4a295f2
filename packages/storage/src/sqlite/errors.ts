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
