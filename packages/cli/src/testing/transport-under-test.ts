import type { FixtureHost } from './fixture-host.ts';

/** Over what the tests of the fixtures ask their host. */
export interface TransportUnderTest {
  /** For `weft serve`. */
  readonly flags: readonly string[];
  open(host: {
    readonly url: string;
    readonly key: string;
    readonly overHttp: FixtureHost['call'];
  }): Promise<{
    readonly call: FixtureHost['call'];
    close(): void;
  }>;
}

let current: TransportUnderTest = {
  flags: [],
  open: async ({ overHttp }) => ({ call: overHttp, close: () => undefined }),
};

/** HTTP, unless `askOver` has said otherwise. */
export function transportUnderTest(): TransportUnderTest {
  return current;
}

/** Said by a test file before it imports the tests of another one, to run them over another transport. */
export function askOver(transport: TransportUnderTest): void {
  current = transport;
}
