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
}

export type LogLine = readonly [level: (typeof LOG_LEVELS)[number], message: string];

export type FromThread =
  | {
      readonly kind: 'described';
      readonly abiVersion: number;
      readonly packName: string;
      readonly typeIds: readonly string[];
    }
  | { readonly kind: 'answered'; readonly response: string; readonly logs: readonly LogLine[] }
  | { readonly kind: 'failed'; readonly failure: ModuleFailure; readonly logs: readonly LogLine[] };

export interface ModuleFailure {
  readonly code:
    | 'wasm_invocation_failed'
    | 'wasm_suspend_not_implemented'
    | 'wasm_cap_breached'
    | 'wasm_pack_unknown_type';
  readonly message: string;
  readonly details?: { readonly kind: string; readonly limit: number; readonly observed: number };
}
