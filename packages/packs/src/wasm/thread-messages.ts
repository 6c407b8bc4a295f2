import type { JsonObject } from '@weft/protocol';
import type { LOG_LEVELS } from './abi.ts';

/** What is said between a host and the thread in which modules run. One call at a time. */
export type ToThread =
  | { readonly kind: 'describe'; readonly module: WebAssembly.Module }
  | ({ readonly kind: 'invoke'; readonly module: WebAssembly.Module } & ModuleCall);

export interface ModuleCall {
  readonly typeId: string;
  /** JSON of the request. */
  readonly request: string;
  /** What `openwop_now_ms` answers, all along. */
  readonly nowMs: number;
  /** `openwop_random` gives the same bytes for the same seed. */
  readonly seed: string;
  /** What it may see of its run, and what its questions were answered. */
  readonly run?: ModuleRun | undefined;
}

export interface ModuleRun {
  readonly answers: readonly JsonObject[];
  readonly variables?: JsonObject | undefined;
  readonly channels?: JsonObject | undefined;
  readonly writable?: readonly string[] | undefined;
}

/** What a module has set by its imports, as the text of JSON; channels in order. */
export interface ModuleWrites {
  readonly variables: Readonly<Record<string, string>>;
  readonly channels: readonly { readonly channel: string; readonly value: string }[];
}

export type LogLine = readonly [level: (typeof LOG_LEVELS)[number], message: string];

export type FromThread =
  | {
      readonly kind: 'described';
      readonly abiVersion: number;
      readonly packName: string;
      readonly typeIds: readonly string[];
    }
  | {
      readonly kind: 'answered';
      readonly response: string;
      readonly writes: ModuleWrites;
      readonly logs: readonly LogLine[];
    }
  /** It has asked by its import, and there is no answer yet. */
  | { readonly kind: 'asked'; readonly question: string; readonly logs: readonly LogLine[] }
  | { readonly kind: 'failed'; readonly failure: ModuleFailure; readonly logs: readonly LogLine[] };

export interface ModuleFailure {
  readonly code: 'wasm_invocation_failed' | 'wasm_cap_breached' | 'wasm_pack_unknown_type';
  readonly message: string;
  readonly details?: { readonly kind: string; readonly limit: number; readonly observed: number };
}
