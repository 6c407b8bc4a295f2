import type { OpenedPack } from '../install/open-pack.ts';
import type { PackManifest } from '../manifest/manifest-schema.ts';
import { SUITE_MODULES } from './suite-modules.ts';

/** Packs that a conformance suite expects of a host that runs WASM, by node type: one that greets and one that takes all the memory it can get. */
export function suitePack(typeId: keyof typeof SUITE_MODULES): Pick<OpenedPack, 'manifest' | 'files'> {
  const manifest: PackManifest = {
    name: typeId.slice(0, typeId.lastIndexOf('.')),
    version: '1.0.0',
    engines: { openwop: '^1.0.0' },
    nodes: [{ typeId, version: '1.0.0', category: 'data', role: 'pure' }],
    runtime: {
      language: 'wasm',
      entry: 'module.wasm',
      format: 'wasm',
      wasm: { abiVersion: 1, memoryPagesMax: 256 },
    },
  };
  return { manifest, files: new Map([['module.wasm', Buffer.from(SUITE_MODULES[typeId], 'base64')]]) };
}
