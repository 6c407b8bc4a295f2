import { ABI_VERSIONS, WASM_LIMITS } from '@weft/packs';
import type { JsonObject } from '@weft/protocol/plain';

/** What a host with packs says of itself in discovery. */
export const PACK_RUNTIMES: JsonObject = {
  wasm: { supported: true, abiVersions: [...ABI_VERSIONS], engine: 'v8', ...WASM_LIMITS },
};
