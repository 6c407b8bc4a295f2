/** On which store the hosts of a test file keep their runs, and how patient a test may be there. */
export interface StoreUnderTest {
  /** For `weft serve`. Asked when a host is started. */
  readonly flags: () => readonly string[];
  /** Settings that are no flags. */
  readonly env?: Readonly<Record<string, string>>;
  readonly killRounds: number;
}

let current: StoreUnderTest = { flags: () => [], killRounds: 20 };

/** SQLite in the data folder, unless `testOn` has said otherwise. */
export function storeUnderTest(): StoreUnderTest {
  return current;
}

/** Said by a test file before it imports the tests of another one, to run them on another store. */
export function testOn(store: StoreUnderTest): void {
  current = store;
}
