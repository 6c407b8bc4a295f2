import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { publicKeyText, signBytes } from '../signing/ed25519.ts';
import { integrityOf } from '../signing/integrity.ts';
import { signPack } from '../signing/sign-pack.ts';
import { readTrust } from '../signing/trust.ts';
import { refusal } from '../testing/refusal.ts';
import { archiveOf, FILES, MANIFEST, newKey, OFFER } from '../testing/sample-packs.ts';
import { openTrustedPack, type PackSource } from './open-pack.ts';

const KEY = newKey();
const NOW = Date.parse('2026-06-01T00:00:00Z');

function trustOf(change: JsonObject = {}, key: KeyObject = KEY, namespace = 'vendor.acme') {
  const entry = {
    kid: 'acme-1',
    algorithm: 'ed25519',
    publicKey: publicKeyText(key),
    validFrom: '2026-01-01T00:00:00Z',
    ...change,
  };
  return readTrust(JSON.stringify({ keychains: [{ namespace, keys: [entry] }] }));
}

const open = { mode: 'open', allow: [], keys: [] } as const;

function take(
  source: PackSource,
  trust: Parameters<typeof openTrustedPack>[1] = open,
  occasion: 'install' | 'load' = 'install',
) {
  return openTrustedPack(source, trust, OFFER, NOW, occasion);
}

describe('a pack', () => {
  it('that is signed by a key of the keychain is opened with the name of its signer', async () => {
    const pack = await take(await signPack(archiveOf(), KEY, 'acme-1'), trustOf());

    expect(pack.manifest).toMatchObject({
      name: 'vendor.acme.hello',
      signing: { publicKeyRef: 'keys/acme-1.pem' },
    });
    expect(pack.signed).toEqual({ kid: 'acme-1', publicKey: publicKeyText(KEY) });
  });

  it('is signed to the same bytes each time, also when it was signed before', async () => {
    const once = await signPack(archiveOf(), KEY, 'acme-1');
    const twice = await signPack((await signPack(archiveOf(), newKey(), 'old')).archive, KEY, 'acme-1');

    expect(Buffer.compare(once.archive, twice.archive)).toBe(0);
    expect(Buffer.compare(once.signature, twice.signature)).toBe(0);
  });

  it('without a signature is refused unless the mode says otherwise', async () => {
    expect(await refusal(() => take({ archive: archiveOf() }, trustOf()))).toMatchObject({
      code: 'signature_not_available',
    });
    expect((await take({ archive: archiveOf() })).signed).toBeUndefined();
  });

  it('is refused when one byte of it is not what was signed, before it is inflated (J-1)', async () => {
    const { archive, signature } = await signPack(archiveOf(), KEY, 'acme-1');
    const changed = Buffer.concat([archive, Buffer.of(0)]);

    expect(await refusal(() => take({ archive: changed, signature }, trustOf()))).toMatchObject({
      code: 'signature_invalid',
    });
    expect(
      await refusal(() => take({ archive: Buffer.from('no gzip'), signature }, trustOf())),
    ).toMatchObject({ code: 'signature_invalid' });
  });

  it('whose code was exchanged under a signed manifest is refused', async () => {
    const { readPackArchive } = await import('../archive/read-archive.ts');
    const { writePackArchive } = await import('../archive/write-archive.ts');
    const { archive, signature } = await signPack(archiveOf(), KEY, 'acme-1');
    const files = new Map(await readPackArchive(archive));
    files.set('dist/hello.wasm', Buffer.from('\0asm evil'));

    const evil = writePackArchive(files);

    expect(await refusal(() => take({ archive: evil, signature }, trustOf()))).toMatchObject({
      code: 'signature_invalid',
    });
  });

  it('whose manifest and archive are signed by two keys is refused', async () => {
    const { archive } = await signPack(archiveOf(), newKey(), 'other');

    expect(
      await refusal(() => take({ archive, signature: signBytes(archive, KEY) }, trustOf())),
    ).toMatchObject({ code: 'signature_invalid', message: expect.stringContaining('different keys') });
  });

  it.each<[string, JsonObject, string?]>([
    ['not valid before', { validFrom: '2026-07-01T00:00:00Z' }],
    ['not valid after', { validUntil: '2026-05-01T00:00:00Z' }],
    ['was revoked', { revokedAt: '2026-05-01T00:00:00Z' }],
    ['may sign packs of vendor.acm, not', {}, 'vendor.acm'],
    ['may sign packs of vendor.other, not', {}, 'vendor.other'],
  ])('signed by a key that %s is refused', async (problem, change, namespace) => {
    const source = await signPack(archiveOf(), KEY, 'acme-1');

    expect(await refusal(() => take(source, trustOf(change, KEY, namespace)))).toMatchObject({
      code: 'signature_unknown_key',
      message: expect.stringContaining(problem),
    });
  });

  it('that is installed is loaded when its key has expired, and not when it was revoked', async () => {
    const source = await signPack(archiveOf(), KEY, 'acme-1');

    await take(source, trustOf({ validUntil: '2026-05-01T00:00:00Z' }), 'load');
    expect(
      await refusal(() => take(source, trustOf({ revokedAt: '2026-05-01T00:00:00Z' }), 'load')),
    ).toMatchObject({ code: 'signature_unknown_key' });
  });

  it('signed by a key that is not known is refused', async () => {
    const source = await signPack(archiveOf(), KEY, 'acme-1');

    expect(await refusal(() => take(source, trustOf({}, newKey())))).toMatchObject({
      code: 'signature_invalid',
    });
    expect(await refusal(() => take(source, { ...open, mode: 'verified' }))).toMatchObject({
      code: 'signature_unknown_key',
    });
  });

  it('is held to the digest that was given, which the mode pinned demands', async () => {
    const archive = archiveOf();
    const pinned = { ...open, mode: 'pinned' } as const;
    const wrong = `sha256-${Buffer.alloc(32).toString('base64')}`;

    await take({ archive, integrity: integrityOf(archive) }, pinned);
    expect(await refusal(() => take({ archive }, pinned))).toMatchObject({ code: 'pack_not_pinned' });
    expect(await refusal(() => take({ archive, integrity: wrong }))).toMatchObject({
      code: 'pack_integrity_failure',
    });
    expect(await refusal(() => take({ archive, integrity: wrong }, open, 'load'))).toMatchObject({
      code: 'pack_integrity_mismatch',
    });
  });

  it.each([
    [['vendor.acme.hello'], true],
    [['vendor.acme.*'], true],
    [['vendor.acme.hell'], false],
    [['vendor.acm.*'], false],
    [[], false],
  ])('is held to the list of the mode allowlist: %j', async (allow, isAllowed) => {
    const trust = { ...open, mode: 'allowlist', allow } as const;

    const outcome = await take({ archive: archiveOf() }, trust).then(
      () => 'opened',
      (error: { code: string }) => error.code,
    );

    expect(outcome).toBe(isAllowed ? 'opened' : 'pack_not_approved');
  });

  it.each<[string, JsonObject, Record<string, string>?]>([
    ['tarball_entry_missing', { runtime: { language: 'wasm', entry: 'dist/none.wasm' } }],
    ['schema_ref_missing', {}, { 'dist/hello.wasm': '' }],
    ['schema_ref_missing', {}, { ...FILES, 'schemas/greet.inputs.json': 'true' }],
    ['schema_ref_missing', {}, { ...FILES, 'schemas/greet.inputs.json': '{"type":"string"}' }],
    ['invalid_engines_range', { engines: { openwop: '^2.0.0' } }],
    ['unsupported_runtime', { runtime: { language: 'go', entry: 'dist/hello.wasm' } }],
  ])('is refused with %s: %j', async (code, change, files) => {
    const archive = archiveOf({ ...MANIFEST, ...change }, files);

    expect(await refusal(() => take({ archive }))).toMatchObject({ code });
  });

  it('is refused when it is another one than the one that was asked for', async () => {
    const archive = archiveOf();

    expect(await refusal(() => take({ archive, name: 'vendor.acme.other' }))).toMatchObject({
      code: 'manifest_name_mismatch',
    });
    expect(await refusal(() => take({ archive, version: '1.0.1' }))).toMatchObject({
      code: 'manifest_version_mismatch',
    });
  });

  it.each<[JsonObject, boolean]>([
    [{ httpClient: 'supported' }, true],
    [{ 'httpClient.ssrfGuard': '*' }, true],
    [{ 'fs.read': 'supported' }, false],
    [{ off: '*' }, false],
    [{ absent: '*' }, false],
    [{ protocolVersion: '^1.0.0' }, true],
    [{ protocolVersion: '>=2' }, false],
    [{ supportedTransports: 'rest' }, true],
    [{ supportedTransports: 'pigeon' }, false],
    [{ __proto__: '*', constructor: '*' }, false],
  ])('needs what the host offers: %j', async (peerDependencies, isMet) => {
    const capabilities = {
      protocolVersion: '1.0',
      httpClient: { supported: true, ssrfGuard: true },
      off: { supported: false },
      supportedTransports: ['rest'],
    };
    const archive = archiveOf({ ...MANIFEST, peerDependencies });

    const outcome = await openTrustedPack({ archive }, open, { ...OFFER, capabilities }, NOW, 'install').then(
      () => 'opened',
      (error: { code: string }) => error.code,
    );

    expect(outcome).toBe(isMet ? 'opened' : 'pack_peer_dependency_missing');
  });
});
