import { advertised } from '../../requirements/gates.ts';
import type { Check } from '../../suite/check.ts';
import { readDiscovery } from '../discovery/document.ts';
import { PACK_AGENT_CHECKS } from './agents.ts';
import { PUBLISHING_CHECKS } from './publishing.ts';
import { WASM_CHECKS } from './wasm.ts';

const MIN_BYTES = 1_024 ** 2;
const MAX_BYTES = 8 * 1_024 ** 3;

const NAME = /^(core|vendor|community|private)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$/;
const VERSION = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;

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
  {
    id: 'packs/registry-reads',
    title: 'a registry is read without a key',
    proves: ['PACK-9'],
    async run({ host, expect, unique, notApplicable }) {
      const read = (path: string) => host.request('GET', `/v1/packs/${path}`, { key: null });
      const search = await read('-/search?q=openwop');
      if (search.status !== 200) return notApplicable('it serves no registry');
      const found = expect.object(search.json, 'the answer to a search is an object');
      for (const each of expect.array(found['results'], 'results is a list')) {
        const { name } = expect.object(each, 'a result is an object');
        expect.that(NAME.test(String(name)), 'a result has the name of a pack', name ?? null);
        const pack = expect.object((await read(String(name))).json, 'a pack that was found is an object');
        const versions = expect.object(pack['versions'], 'versions is an object');
        for (const version of Object.keys(versions))
          expect.that(VERSION.test(version), 'versions are semantic versions', version);
      }
      const unknown = `vendor.weft.${unique().replaceAll(/[^a-z0-9]/g, '')}x`;
      for (const path of [unknown, `${unknown}/-/1.0.0.json`, `${unknown}/-/1.0.0.sig`])
        expect.envelope(await read(path), { status: [404] });
      for (const path of ['not-reverse-dns', `${unknown}/-/not-a-version.json`])
        expect.envelope(await read(path), { status: [400, 404] });
    },
  },
  ...WASM_CHECKS,
  ...PUBLISHING_CHECKS,
  ...PACK_AGENT_CHECKS,
];
