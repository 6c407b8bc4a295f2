import { advertised } from '../../requirements/gates.ts';
import type { Check } from '../../suite/check.ts';
import { readDiscovery } from '../discovery/document.ts';

const MIN_BYTES = 1_024 ** 2;
const MAX_BYTES = 8 * 1_024 ** 3;

export const PACKS_CHECKS: readonly Check[] = [
  {
    id: 'packs/wasm-discovery',
    title: 'discovery says which WASM packs a host can run',
    proves: ['PACK-1', 'PACK-2'],
    async run({ host, expect }) {
      const discovery = await readDiscovery({ host, expect });
      const wasm = expect.object(
        advertised(discovery, 'nodePackRuntimes.wasm'),
        'nodePackRuntimes.wasm is an object',
      );
      const versions = expect.array(wasm['abiVersions'], 'abiVersions is a list');
      for (const version of versions) {
        const number = expect.integer(version, 'an entry of abiVersions is an integer');
        expect.that(number > 0, 'an entry of abiVersions is more than 0', number);
      }
      expect.that(versions.includes(1), 'abiVersions has 1', versions);
      const bytes = expect.integer(wasm['maxMemoryBytes'], 'maxMemoryBytes is an integer');
      expect.that(bytes >= MIN_BYTES && bytes <= MAX_BYTES, 'maxMemoryBytes is from 1 MiB to 8 GiB', bytes);
    },
  },
];
