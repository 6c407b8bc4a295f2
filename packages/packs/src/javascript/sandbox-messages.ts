/** What a process with the code of a pack and its keeper say to each other: a line of JSON each, over the pipe 3. */
import type { Json, JsonObject } from '@weft/protocol/plain';

export const CHANNEL = 3;

/** What a function of the pack is given; the rest of its context the child makes. */
export interface CallContext {
  readonly inputs: JsonObject;
  readonly config: JsonObject;
  readonly secrets: Readonly<Record<string, string>>;
  readonly invocationId: string;
  readonly attempt: number;
  readonly runId: string;
  readonly nodeId: string;
  readonly workflowId: string;
  readonly traceparent?: string | undefined;
}

export type ToChild =
  | { readonly kind: 'load'; readonly code: string }
  | { readonly kind: 'call'; readonly id: number; readonly typeId: string; readonly context: CallContext }
  | { readonly kind: 'abort'; readonly id: number; readonly reason: string }
  | {
      readonly kind: 'fetched';
      readonly id: number;
      readonly answer?: FetchAnswer;
      readonly problem?: string;
    };

/** Untrusted: the code of the pack can write to the same pipe. */
export type FromChild =
  | { readonly kind: 'loaded'; readonly typeIds: readonly unknown[] }
  | { readonly kind: 'unloadable'; readonly message: unknown }
  | { readonly kind: 'done'; readonly id: number; readonly outputs: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly error: unknown }
  | { readonly kind: 'log'; readonly id: number; readonly level: unknown; readonly message: unknown }
  | { readonly kind: 'emit'; readonly id: number; readonly text: unknown }
  | { readonly kind: 'heartbeat'; readonly id: number; readonly details?: Json }
  | { readonly kind: 'fetch'; readonly id: number; readonly request: unknown };

export interface ChildError {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: JsonObject;
}

/** What a pack wants of the network. Bodies are base64. */
export interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly followRedirects: boolean;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
