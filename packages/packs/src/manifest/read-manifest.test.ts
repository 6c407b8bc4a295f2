import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { refusal } from '../testing/refusal.ts';
import { MANIFEST } from '../testing/sample-packs.ts';
import { readManifest } from './read-manifest.ts';

function read(change: JsonObject): unknown {
  return readManifest(Buffer.from(JSON.stringify({ ...MANIFEST, ...change })));
}

const [NODE] = MANIFEST['nodes'] as JsonObject[];

describe('a manifest', () => {
  it('is read as it is written', () => {
    expect(read({})).toEqual(MANIFEST);
    expect(read({ name: 'private.host-1.a.bC', version: '1.0.0-rc.1+x', keywords: ['a'] })).toBeTruthy();
    expect(
      read({ runtime: { language: 'wasm', entry: 'a', wasm: { abiVersion: 1, memoryPagesMax: 16 } } }),
    ).toBeTruthy();
  });

  it.each([
    ['invalid_pack_name', { name: 'acme' }, '"acme" is no name of a pack'],
    ['invalid_pack_name', { name: 'vendor.acme' }, 'three parts'],
    ['invalid_pack_name', { name: 'vendor.Acme.x' }, 'lower case'],
    ['invalid_pack_name', { name: `vendor.acme.${'x'.repeat(250)}` }, '…'],
    ['invalid_pack_scope', { name: 'core.openwop.x' }, 'belongs to the protocol'],
    ['invalid_pack_scope', { name: 'local.a.b' }, 'never packed'],
    ['invalid_version', { version: '1' }, '"1" is no semantic version'],
    ['invalid_version', { version: 'v1.0.0' }, 'no semantic version'],
    ['invalid_manifest', { nodes: [] }, 'at nodes:'],
    ['invalid_manifest', { colour: 'red' }, 'colour'],
    ['invalid_manifest', { agents: {} }, 'at agents:'],
    ['invalid_manifest', { runtime: { language: 'cobol', entry: 'a' } }, 'runtime.language'],
    ['invalid_manifest', { runtime: { language: 'wasm', entry: 'a', memory: 1 } }, 'runtime'],
    ['invalid_manifest', { nodes: [{ ...NODE, typeId: 'core.noop' }] }, 'cannot be packed'],
    ['invalid_manifest', { nodes: [{ ...NODE, typeId: 'local.x' }] }, 'cannot be packed'],
    ['invalid_manifest', { nodes: [NODE, NODE] }, 'acme.hello.greet is there twice'],
    ['invalid_manifest', { nodes: [{ ...NODE, version: '1' }] }, 'nodes.0.version'],
    ['invalid_manifest', { nodes: [{ ...NODE, category: 'examples' }] }, 'nodes.0.category'],
    [
      'invalid_manifest',
      { signing: { publicKeyRef: 'a', signatureRef: 'b', method: 'trust-me' } },
      'signing',
    ],
    ['invalid_manifest', { dependencies: { 'vendor.acme.hello': '^1.0.0' } }, 'depend on itself'],
    ['invalid_manifest', { dependencies: { 'vendor.acme.other': 'latest!' } }, 'no range of versions'],
    ['invalid_manifest', { engines: {} }, 'at engines: the field "openwop" is missing'],
    ['invalid_engines_range', { engines: { openwop: 'newest' } }, 'no range of versions'],
  ])('is refused with %s: %j', async (code, change, message) => {
    const refused = await refusal(() => read(change as JsonObject));

    expect(refused.code).toBe(code);
    expect(refused.message).toContain(message);
  });

  it.each([['not JSON'], ['{"name":1,"name":2}'], ['\ufeff{}'], ['{"a":"\\ud800"}']])(
    'is refused when it can be read in two ways: %s',
    async (text) => {
      expect(await refusal(() => readManifest(Buffer.from(text)))).toMatchObject({
        code: 'tarball_manifest_not_json',
      });
    },
  );

  it('is refused when it is not UTF-8', async () => {
    expect(await refusal(() => readManifest(Uint8Array.of(0x7b, 0xff, 0x7d)))).toMatchObject({
      code: 'tarball_manifest_not_json',
    });
  });
});
