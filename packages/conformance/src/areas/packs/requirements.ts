import type { RequirementTable } from '../../requirements/requirement.ts';

const BY_OPERATOR =
  'not to be seen from outside: packs are installed by the operator, and no request of the protocol installs one';

export const PACKS_REQUIREMENTS = {
  'PACK-1': {
    document: 'conformance-1.0.0',
    section: 'wasm-pack-abi-version-rejection',
    level: 'MUST',
    text: 'A host that runs WASM packs advertises the versions of the ABI that it speaks, 1 among them.',
    gate: 'wasm',
  },
  'PACK-2': {
    document: 'conformance-1.0.0',
    section: 'wasm-pack-memory-cap',
    level: 'MUST',
    text: 'A host that runs WASM packs advertises how much memory they may take, from 1 MiB to 8 GiB.',
    gate: 'wasm',
  },
  'PACK-3': {
    document: 'conformance-1.0.0',
    section: 'wasm-pack-load and wasm-pack-invoke-completed',
    level: 'MUST',
    text: 'A node of a WASM pack runs, gets the inputs of the run, and leaves its output in the log.',
    gate: 'wasm',
  },
  'PACK-4': {
    document: 'conformance-1.0.0',
    section: 'wasm-pack-invoke-suspended',
    level: 'MUST',
    text: 'A WASM node that suspends is resumed, or fails with a code that says that the host cannot.',
    gate: 'wasm',
  },
  'PACK-5': {
    document: 'conformance-1.0.0',
    section: 'wasm-pack-replay-determinism',
    level: 'MUST',
    text: 'The same inputs give the same output, and a replay takes what the host was asked from the record.',
    gate: 'wasm',
  },
  'PACK-6': {
    document: 'rfcs',
    section: 'RFC 0008: limits',
    level: 'MUST',
    text: 'A WASM node that takes too much memory or time is stopped, with cap.breached before the failure.',
    gate: 'wasm',
  },
  'PACK-7': {
    document: 'rfcs',
    section: 'RFC 0008: ABI',
    level: 'MUST',
    text: 'A module with an unknown ABI version is not loaded, and its node types are not registered.',
    gate: 'wasm',
    notTested: BY_OPERATOR,
  },
  'PACK-8': {
    document: 'conformance-1.0.0',
    section: 'fixtures-valid',
    level: 'MUST',
    text: 'Manifests of packs are closed, and names begin with core, vendor, community or private.',
  },
  'PACK-9': {
    document: 'conformance-1.0.0',
    section: 'pack-registry',
    level: 'MUST',
    text: 'A registry answers reads without a credential: search, packs, versions, signatures and key chains, with 404 for what is unknown and 400 for malformed names and versions.',
  },
  'PACK-10': {
    document: 'conformance-1.0.0',
    section: 'pack-registry-publish',
    level: 'MUST',
    text: 'Publishing checks URL, body, archive, manifest, integrity and rights in this order, each with its own code.',
  },
  'PACK-11': {
    document: 'conformance-1.0.0',
    section: 'maliciousManifest',
    level: 'MUST',
    text: 'Archives that are too large, leave their folder or name another pack are refused.',
  },
  'PACK-12': {
    document: 'rfcs',
    section: 'node-packs: integrity and signatures',
    level: 'MUST',
    text: 'A pack is loaded only when its hash, its signature, its engine range and its peer dependencies are right; otherwise the workflow is refused.',
    notTested: BY_OPERATOR,
  },
  'PACK-13': {
    document: 'conformance-1.0.0',
    section: 'agentPackInstall',
    level: 'MUST',
    text: 'A host that lists its packs lists the agents of those that have any.',
  },
  'PACK-14': {
    document: 'conformance-1.0.0',
    section: 'agentPackExport',
    level: 'MUST',
    text: 'A host that exports packs exports the manifests of its agents.',
  },
  'PACK-15': {
    document: 'rfcs',
    section: 'node-packs: yanked and deprecated versions',
    level: 'MUST',
    text: 'A yanked version is left out of ranges and still found when it is pinned; a deprecated one is found with a warning.',
  },
  'PACK-16': {
    document: 'rfcs',
    section: 'Lockfiles',
    level: 'MUST',
    text: 'A lockfile pins versions, hashes and signatures, and each of them is verified.',
    notTested: BY_OPERATOR,
  },
} as const satisfies RequirementTable;
