import type { Json, SseEvent } from '@weft/protocol';
import type { GrpcMutation } from './grpc-proxy.ts';

/** A request on its way to the host. */
export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer on its way back, streams excepted. */
export interface ProxiedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a mutant remembers between requests, such as the answer to an earlier one. */
export type MutantMemory = Map<string, Json>;

/**
 * One way to be wrong. A proxy in front of a correct host breaks it in this way and in no other, and the check meant for it must
 * notice. Whatever a function leaves out passes through unchanged.
 */
export interface Mutant {
  /** `area/what-is-wrong`. */
  readonly id: string;
  /** What a host with this defect does. */
  readonly breaks: string;
  /** The checks of which every one must fail. */
  readonly caughtBy: readonly string[];
  /** A part of the message that the first of them must give, so that it fails for the right reason. */
  readonly says: RegExp;
  /** Requests that it meddles with; others pass. */
  readonly on: { readonly method?: string; readonly path: RegExp };
  /** Changes the request; or answers it in place of the host. */
  readonly request?: (
    request: ProxiedRequest,
    memory: MutantMemory,
  ) => ProxiedRequest | { readonly instead: ProxiedAnswer };
  readonly answer?: (answer: ProxiedAnswer, request: ProxiedRequest, memory: MutantMemory) => ProxiedAnswer;
  /** For streams: what is sent in place of each event. */
  readonly frame?: (event: SseEvent, memory: MutantMemory) => readonly SseEvent[];
  /** For gRPC: a proxy of its own stands in front of what discovery advertises. */
  readonly grpc?: GrpcMutation;
  /** For streams: the connection stays open after the host has closed its own. */
  readonly keepsStreamsOpen?: boolean;
}
