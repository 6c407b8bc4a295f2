import type { Caller, StopSignal } from '@weft/engine';

/**
 * What a caller asks, whichever door it came through. A request of the HTTP server is one as it is; the gRPC server makes one of each
 * call. Rules about callers, keys and requests are written for this, so that no door has rules of its own.
 */
export interface Call {
  readonly id: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  /** Where it comes from; behind a trusted proxy, what that says. */
  readonly ip: string;
  readonly socket: {
    /** Of the last request that came over it. */
    admitted?: Admitted;
    readonly remoteAddress?: string | undefined;
    /** Where HTTP was reached. */
    readonly localAddress?: string | undefined;
    readonly localPort?: number | undefined;
  };
  readonly routeOptions: {
    readonly url?: string | undefined;
    readonly config: { readonly scope?: string; readonly ofRun?: boolean };
  };
  /** Who asks; absent on routes that need no key. */
  caller: Caller | undefined;
}

/** Who was let in last over a connection: most of them carry the requests of one client. */
export interface Admitted {
  readonly key: Caller;
  readonly ip: string;
  /** The same caller with its address. */
  readonly caller: Caller;
}

/** What is answered to a call: JSON text, or nothing with a status that has no body. */
export interface Answered {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What every door serves alike. `leaving` tells those who wait for something when the caller has left; it is asked for once at most. */
export type Operation = (call: Call, leaving: () => StopSignal) => Promise<Answered>;
