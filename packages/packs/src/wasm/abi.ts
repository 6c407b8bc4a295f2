/** The ABI between a host and a WASM pack, version 1. */

export const ABI_VERSIONS: readonly number[] = [1];
export const PAGE_BYTES = 65_536;

/** What every module exports. */
export const NEEDED_EXPORTS: Readonly<Record<string, WebAssembly.ImportExportKind>> = {
  memory: 'memory',
  openwop_abi_version: 'function',
  openwop_pack_name: 'function',
  openwop_node_count: 'function',
  openwop_node_id_at: 'function',
  openwop_alloc: 'function',
  openwop_free: 'function',
  openwop_node_invoke: 'function',
};

export const IMPORT_MODULE = 'openwop';

/** What a module may import. */
export const OFFERED_IMPORTS: readonly string[] = [
  'openwop_channel_read',
  'openwop_channel_write',
  'openwop_variable_get',
  'openwop_variable_set',
  'openwop_interrupt',
  'openwop_log',
  'openwop_now_ms',
  'openwop_random',
];

/** What writes answer. */
export const STATUS = {
  ok: 0,
  channelAccessDenied: 1,
  validationError: 10,
  notFound: 11,
  capabilityBreach: 20,
} as const;

export const LOG_LEVELS = ['debug', 'debug', 'info', 'warn', 'error'] as const;
