export { MANIFEST_FILE, PACK_LIMITS } from './archive/limits.ts';
export type { PackFiles } from './archive/read-archive.ts';
export { writePackArchive } from './archive/write-archive.ts';
export { type LockEntry, type Lockfile, lockfileText, readLockfile } from './install/lockfile.ts';
export { agentsOf, type PackAgent } from './install/agents.ts';
export {
  checkFiles,
  type NodeSchemas,
  type OpenedPack,
  openTrustedPack,
  type PackSource,
  readPack,
  schemasOf,
} from './install/open-pack.ts';
export { type HostOffer, unmetOptional } from './install/requirements.ts';
export { type JavaScriptPack, openJavaScriptPack } from './javascript/javascript-pack.ts';
export type { HostFetch, SandboxCall } from './javascript/sandbox-process.ts';
export { findWalls, type Walls } from './javascript/walls.ts';
export { type AgentManifest, MODEL_CLASSES } from './manifest/agent-schema.ts';
export type { PackLanguage, PackManifest, PackNode } from './manifest/manifest-schema.ts';
export { checkPackName, checkPackVersion } from './manifest/pack-name.ts';
export { checkManifest, readManifest } from './manifest/read-manifest.ts';
export { PACK_CODES, type PackCode, PackError } from './pack-error.ts';
export { addKey } from './registry/keychain.ts';
export { checkPublication, latestVersion } from './registry/publication.ts';
export {
  ARCHIVE_SIGNATURE_HEADER,
  type AskRegistry,
  type FetchedPack,
  fetchPack,
  type Registry,
} from './registry/registry-client.ts';
export { isWanted, type WantedPack, wantedPack } from './registry/wanted-pack.ts';
export { privateKeyOf, publicKeyText } from './signing/ed25519.ts';
export { integrityOf } from './signing/integrity.ts';
export { manifestText, signPack } from './signing/sign-pack.ts';
export {
  type KeyDocument,
  NO_TRUST,
  readTrust,
  type Trust,
  TRUST_MODES,
  type TrustMode,
} from './signing/trust.ts';
export { suitePack } from './suite/suite-packs.ts';
export { ABI_VERSIONS } from './wasm/abi.ts';
export type { ModuleCall } from './wasm/thread-messages.ts';
export {
  openWasmPack,
  type RunFacility,
  WASM_LIMITS,
  type WasmLimits,
  type WasmOutcome,
  type WasmPack,
  type WasmWrites,
} from './wasm/wasm-pack.ts';
export { createWasmThreads, type WasmThreads } from './wasm/wasm-threads.ts';
