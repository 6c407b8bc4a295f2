import type { HostClient } from './host-client.ts';

/** A process of the host that the suite started itself, so that it may kill it. */
export interface LaunchedHost {
  readonly url: string;
  readonly key: string;
  /** Requests go to this process alone. */
  readonly client: HostClient;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
}

/** Starts processes of one host: all share the same data. */
export interface Launcher {
  /** Resolves when the process answers discovery; absent when it ended before, as a second one on an embedded database may. */
  start(): Promise<LaunchedHost | undefined>;
  /** Ends every process that is left, and removes their data. */
  stop(): Promise<void>;
}
