import type { Store } from '../ports/store.ts';

/** Set by a test, asked by the store around every commit: one that throws makes the outcome unknown. */
export interface ContractFaults {
  /** Throws before the group is durable: everything of it is lost. */
  beforeCommit?: (() => void) | undefined;
  /** Throws after the group is durable: everything of it is kept, but the caller does not know. */
  afterCommit?: (() => void) | undefined;
}

export interface ContractOptions {
  /** The store's clock. */
  readonly clock: () => number;
  readonly faults: ContractFaults;
}

/** How the contract gets at a backend. */
export interface StoreHarness {
  /** A new, empty store that belongs to one test. */
  open(options: ContractOptions): Promise<Store>;
  /** Closes the store and opens the same data again, as after a restart. Absent where closing forgets. */
  reopen?(store: Store, options: ContractOptions): Promise<Store>;
}

/** What every part of the contract works on: the store of the running test, and its clock. */
export interface Subject {
  readonly store: Store;
  /** What the store's clock shows; a test moves it. */
  now: number;
  readonly faults: ContractFaults;
}
