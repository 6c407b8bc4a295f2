import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  type Clock,
  createHost,
  ensureFirstKey,
  type Host,
  newKey,
  openMemoryStore,
  SYSTEM_CLOCK,
} from '@weft/engine';
import { integrityOf, publicKeyText, signPack, writePackArchive } from '@weft/packs';
import type { JsonObject } from '@weft/protocol';
import { createApp } from '@weft/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACK_FORMAT } from './pack-format.ts';

type App = ReturnType<typeof createApp>;
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

const HOUR = 3_600_000;
let later = 0;
const clock: Clock = { ...SYSTEM_CLOCK, now: () => SYSTEM_CLOCK.now() + later };
const store = openMemoryStore();
let host: Host;
let app: App;
const keys: Record<string, string> = {};

beforeAll(async () => {
  host = createHost({ store, version: '0', packs: PACK_FORMAT, clock });
  for (const tenant of ['acme', 'other']) {
    const key = newKey(randomBytes, false);
    await ensureFirstKey({ store, key, test: false, tenant, now: Date.now(), random: randomBytes });
    keys[tenant] = key;
  }
  await host.start();
  app = createApp({ host, options: {}, log: () => undefined });
});
afterAll(async () => {
  await app.close();
  await host.stop(0);
});

interface Sent {
  readonly by?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array | JsonObject;
}

async function ask(method: Method, path: string, { by, headers = {}, body }: Sent = {}) {
  const isBytes = body instanceof Uint8Array;
  const answer = await app.inject({
    method,
    url: `/v1/packs${path}`,
    headers: {
      ...(by !== undefined && { authorization: `Bearer ${keys[by]}` }),
      ...(isBytes && { 'content-type': 'application/gzip' }),
      ...headers,
    },
    ...(body !== undefined && { payload: isBytes ? Buffer.from(body) : body }),
  });
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: answer.rawPayload,
    json: isJson ? answer.json<JsonObject>() : {},
  };
}

function archiveOf(name: string, version = '1.0.0', change: JsonObject = {}, code = 'x'): Uint8Array {
  const manifest = {
    name,
    version,
    description: 'Says hello.',
    engines: { openwop: '^1.0.0' },
    nodes: [{ typeId: 'acme.hello', version: '1.0.0', category: 'data', role: 'pure' }],
    runtime: { language: 'wasm', entry: 'dist/x.wasm' },
    ...change,
  };
  return writePackArchive(
    new Map([
      ['pack.json', Buffer.from(JSON.stringify(manifest))],
      ['dist/x.wasm', Buffer.from(code)],
    ]),
  );
}

function publish(name: string, version: string, body: Uint8Array, sent: Sent = {}) {
  return ask('PUT', `/${name}/-/${version}.tgz`, { by: 'acme', body, ...sent });
}

function key(): KeyObject {
  return createPrivateKey(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

describe('a registry', () => {
  it('gives what was published, byte for byte, to anyone', async () => {
    const signed = await signPack(archiveOf('vendor.acme.hello'), key(), 'acme-1');
    const headers = {
      'x-pack-archive-signature': Buffer.from(signed.signature).toString('base64'),
      'x-pack-sha256': integrityOf(signed.archive),
      'x-pack-signing-method': 'manual',
    };

    const first = await publish('vendor.acme.hello', '1.0.0', signed.archive, { headers });
    const again = await publish('vendor.acme.hello', '1.0.0', signed.archive, { headers });
    await publish('vendor.acme.hello', '2.0.0-rc.1', archiveOf('vendor.acme.hello', '2.0.0-rc.1'));
    const index = await ask('GET', '/vendor.acme.hello');
    const tgz = await ask('GET', '/vendor.acme.hello/-/1.0.0.tgz');
    const sig = await ask('GET', '/vendor.acme.hello/-/1.0.0.sig');
    const manifest = await ask('GET', '/vendor.acme.hello/-/1.0.0.json');
    const found = await ask('GET', '/-/search?q=HELLO');

    expect([first.status, again.status]).toEqual([201, 200]);
    expect(index.json).toMatchObject({
      'dist-tags': { latest: '1.0.0' },
      versions: {
        '1.0.0': { tarballSha256: integrityOf(signed.archive), signed: true, signingMethod: 'manual' },
      },
    });
    expect(tgz.bytes.equals(signed.archive)).toBe(true);
    expect(tgz.headers).toMatchObject({
      'content-type': 'application/tar+gzip',
      'content-length': String(signed.archive.length),
      etag: `"${integrityOf(signed.archive)}"`,
      'x-pack-archive-signature': headers['x-pack-archive-signature'],
    });
    expect(sig.bytes).toHaveLength(64);
    expect(manifest.json).toMatchObject({ name: 'vendor.acme.hello', version: '1.0.0' });
    expect(found.json['results']).toEqual([
      { name: 'vendor.acme.hello', description: 'Says hello.', version: '1.0.0' },
    ]);
    expect((await ask('GET', '/vendor.acme.hello/-/2.0.0-rc.1.sig')).json).toMatchObject({
      error: 'signature_not_available',
    });
  });

  it('lists a pack with some agents of its newest version, and exports none', async () => {
    const name = 'vendor.acme.staff';
    const agentsOf = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        agentId: `${name}.a${at}`,
        persona: `Agent ${at}`,
        modelClass: 'general',
        systemPrompt: 'SECRET-PROMPT',
      }));
    const listed = async () =>
      ((await ask('GET', '')).json['packs'] as JsonObject[]).find((pack) => pack['name'] === name);

    await publish(name, '1.0.0', archiveOf(name, '1.0.0', { agents: agentsOf(1) }));
    await publish(name, '2.0.0', archiveOf(name, '2.0.0', { agents: agentsOf(20) }));
    const many = await listed();
    await ask('POST', `/${name}/-/2.0.0/yank`, { by: 'acme', body: { reason: 'No.' } });
    const one = await listed();

    expect(many?.['agents']).toHaveLength(16);
    expect(one).toMatchObject({
      version: '1.0.0',
      agents: [{ agentId: `${name}.a0`, persona: 'Agent 0', modelClass: 'general' }],
    });
    expect(JSON.stringify(many)).not.toContain('SECRET-PROMPT');
    expect(await ask('GET', '/export', { by: 'acme' })).toMatchObject({
      status: 404,
      json: { error: 'not_found' },
    });
  });

  it.each<[string, number, string, () => Promise<{ status: number; json: JsonObject }>]>([
    [
      'the scope',
      400,
      'invalid_pack_scope',
      () => publish('core.acme.x', '1', Buffer.of(), { by: undefined }),
    ],
    ['the name', 400, 'invalid_pack_name', () => publish('nope', '1', Buffer.of(), { by: undefined })],
    [
      'the version',
      400,
      'invalid_version',
      () => publish('vendor.acme.x', '1', Buffer.of(), { by: undefined }),
    ],
    [
      'no key',
      401,
      'unauthenticated',
      () => publish('vendor.acme.x', '1.0.0', Buffer.of(), { by: undefined }),
    ],
    ['no bytes', 400, 'invalid_body', () => publish('vendor.acme.x', '1.0.0', Buffer.of())],
    [
      'JSON',
      400,
      'invalid_body',
      () => ask('PUT', '/vendor.acme.x/-/1.0.0.tgz', { by: 'acme', body: { name: 'vendor.acme.x' } }),
    ],
    [
      'no gzip',
      400,
      'tarball_gunzip_failed',
      () => publish('vendor.acme.x', '1.0.0', Buffer.from('no gzip')),
    ],
    ['no tar', 400, 'tarball_tar_parse_failed', () => publish('vendor.acme.x', '1.0.0', gzipSync('no tar'))],
    [
      'a large body',
      413,
      'payload_too_large',
      () => publish('vendor.acme.x', '1.0.0', randomBytes(11 * 2 ** 20)),
    ],
    [
      'a wrong manifest',
      400,
      'invalid_manifest',
      () => publish('vendor.acme.x', '1.0.0', archiveOf('vendor.acme.y', '1.0.0', { noSuch: true })),
    ],
    [
      'another name, whatever the digest',
      400,
      'manifest_name_mismatch',
      () =>
        publish('vendor.acme.x', '1.0.0', archiveOf('vendor.acme.y'), {
          headers: { 'x-pack-sha256': 'sha256-no' },
        }),
    ],
    [
      'another version',
      400,
      'manifest_version_mismatch',
      () => publish('vendor.acme.x', '2.0.0', archiveOf('vendor.acme.x')),
    ],
    [
      'another digest, before the owner of the namespace is looked up',
      400,
      'pack_integrity_failure',
      () =>
        publish('vendor.acme.x', '1.0.0', archiveOf('vendor.acme.x'), {
          by: 'other',
          headers: { 'x-pack-sha256': '0'.repeat(64) },
        }),
    ],
    [
      'a signature of nothing',
      400,
      'signature_invalid',
      () =>
        publish('vendor.acme.x', '1.0.0', archiveOf('vendor.acme.x'), {
          headers: { 'x-pack-archive-signature': randomBytes(64).toString('base64') },
        }),
    ],
    [
      'a namespace of others',
      403,
      'forbidden',
      () => publish('vendor.acme.x', '1.0.0', archiveOf('vendor.acme.x'), { by: 'other' }),
    ],
    [
      'a version with other bytes',
      409,
      'version_conflict',
      () => publish('vendor.acme.hello', '1.0.0', archiveOf('vendor.acme.hello', '1.0.0', {}, 'y')),
    ],
  ])(
    'refuses a publication for %s, in the order of the protocol, and keeps nothing (J-6)',
    async (_, status, code, act) => {
      const answer = await act();

      expect(answer).toMatchObject({ status, json: { error: code } });
      expect((await ask('GET', '/vendor.acme.x')).status).toBe(404);
    },
  );

  it.each([
    ['/not-reverse-dns', 400, 'invalid_pack_name'],
    ['/vendor.acme.nothing', 404, 'pack_not_found'],
    ['/vendor.acme.hello/-/9.9.9.json', 404, 'pack_version_not_found'],
    ['/vendor.acme.hello/-/9.9.9.tgz', 404, 'pack_version_not_found'],
    ['/vendor.acme.hello/-/9.9.9.sig', 404, 'signature_not_available'],
    ['/vendor.acme.hello/-/not-a-version.json', 400, 'invalid_version'],
    ['/vendor.acme.nothing/-/keychain', 200, undefined],
    ['/vendor.unknown.x/-/keychain', 404, 'pack_not_found'],
    ['/vendor.acme.hello/-/1.0.0.exe', 404, 'not_found'],
    ['/-/search?q=a&x=1', 400, 'validation_error'],
    ['/vendor.acme.hello/more/than/that', 404, 'not_found'],
  ])('answers %s with %i', async (path, status, error) => {
    const answer = await ask('GET', path);

    expect(answer.status).toBe(status);
    expect(answer.json['error']).toBe(error);
  });

  it('shows packs of private.* to their tenant alone', async () => {
    const mine = archiveOf('private.acme.secret');
    expect((await publish('private.acme.secret', '1.0.0', mine)).status).toBe(201);
    expect(
      (
        await publish('private.acme.secret', '1.0.0', archiveOf('private.acme.secret', '1.0.0', {}, 'y'), {
          by: 'other',
        })
      ).status,
    ).toBe(201);

    for (const path of ['/private.acme.secret', '/private.acme.secret/-/1.0.0.tgz', '/-/search?q=private.']) {
      const anyone = await ask('GET', path);
      const own = await ask('GET', path, { by: 'acme' });
      expect([anyone.status, own.status]).toEqual([401, 200]);
    }
    const tgz = await ask('GET', '/private.acme.secret/-/1.0.0.tgz', { by: 'acme' });
    expect(tgz.bytes.equals(mine)).toBe(true);
    expect(JSON.stringify((await ask('GET', '')).json)).not.toContain('private.');
  });

  it('lets one of many publications of a version win, and the same bytes come again at any time (J-5)', async () => {
    const name = 'vendor.acme.race';
    const archives = ['a', 'b', 'c'].map((code) => archiveOf(name, '1.0.0', {}, code));

    const answers = await Promise.all(archives.map((archive) => publish(name, '1.0.0', archive)));
    const won = archives[answers.findIndex(({ status }) => status === 201)] ?? Buffer.of();
    const gone = await ask('DELETE', `/${name}/-/1.0.0`, { by: 'acme' });
    const missing = await ask('GET', `/${name}`);
    const others = await Promise.all(archives.map((archive) => publish(name, '1.0.0', archive)));

    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['201', '409', '409']);
    expect([gone.status, missing.status]).toEqual([204, 404]);
    expect(others.map(({ status }) => status)).toEqual(archives.map((each) => (each === won ? 201 : 409)));
    expect((await ask('GET', `/${name}/-/1.0.0.tgz`)).bytes.equals(won)).toBe(true);
  });

  it('deprecates, withdraws and takes back, by its owner, and says so in the audit log', async () => {
    const name = 'vendor.acme.old';
    const signed = await signPack(archiveOf(name), key(), 'k1');
    const headers = { 'x-pack-archive-signature': Buffer.from(signed.signature).toString('base64') };
    await publish(name, '1.0.0', signed.archive, { headers });
    const at = `/${name}/-/1.0.0`;
    const note = { reason: 'too old', supersededBy: 'vendor.acme.new' };

    const byOther = await ask('POST', `${at}/deprecate`, { by: 'other', body: note });
    const wrong = await ask('POST', `${at}/yank`, { by: 'acme', body: { why: 'x' } });
    const deprecated = await ask('POST', `${at}/deprecate`, { by: 'acme', body: note });
    const twice = await ask('POST', `${at}/deprecate`, { by: 'acme', body: note });
    const yanked = await ask('POST', `${at}/yank`, { by: 'acme', body: { reason: 'leaks' } });
    const tgz = await ask('GET', `${at}.tgz`);
    const sig = await ask('GET', `${at}.sig`);
    await ask('DELETE', `${at}/yank`, { by: 'acme' });
    await ask('DELETE', `${at}/deprecate`, { by: 'acme' });
    const after = await ask('GET', `${at}.json`);
    later = 73 * HOUR;
    const tooLate = await ask('DELETE', at, { by: 'acme' });
    later = 0;
    const audited = JSON.stringify(await store.readAudit(0, 1_000));

    expect([byOther.status, wrong.status]).toEqual([403, 400]);
    expect(deprecated.json['deprecation']).toMatchObject({ deprecated: true, ...note });
    expect(twice.json).toEqual(deprecated.json);
    expect(yanked.json['yanked']).toMatchObject({ reason: 'leaks' });
    expect(tgz.status).toBe(200);
    expect(tgz.headers['x-pack-archive-signature']).toBeUndefined();
    expect(sig).toMatchObject({ status: 404, json: { error: 'signature_not_available' } });
    expect(after.json).not.toHaveProperty('yanked');
    expect(after.json).not.toHaveProperty('deprecation');
    expect(tooLate.json['error']).toBe('unpublish_window_expired');
    for (const action of ['publish', 'deprecate', 'yank', 'unyank', 'undeprecate'])
      expect(audited).toContain(`"pack.${action}"`);
  });

  it('takes a key that one before it has signed, and from then on nothing that none of them has', async () => {
    const name = 'community.ann.tools';
    const [first, second, stranger] = [key(), key(), key()];
    await publish(name, '1.0.0', archiveOf(name));
    const document = (kid: string, of: KeyObject, proof?: KeyObject) => {
      const [publicKey, validFrom] = [publicKeyText(of), '2020-01-01T00:00:00Z'];
      const rotationProof =
        proof && sign(null, Buffer.from(kid + publicKey + validFrom), proof).toString('base64');
      const validUntil = '2100-01-01T00:00:00Z';
      return {
        kid,
        algorithm: 'ed25519',
        publicKey,
        validFrom,
        validUntil,
        ...(rotationProof && { rotationProof }),
      };
    };
    const rotate = (body: JsonObject) => ask('POST', `/${name}/-/keychain/rotate`, { by: 'acme', body });
    const signedBy = async (version: string, by: KeyObject) => {
      const { archive, signature } = await signPack(archiveOf(name, version), by, 'k');
      const headers = { 'x-pack-archive-signature': Buffer.from(signature).toString('base64') };
      return (await publish(name, version, archive, { headers })).status;
    };

    const added = await rotate(document('k1', first));
    const unproven = await rotate(document('k2', second, stranger));
    const proven = await rotate(document('k2', second, first));

    expect([added.status, unproven.status, proven.status]).toEqual([200, 400, 200]);
    expect(unproven.json['error']).toBe('keychain_invalid');
    expect((await ask('GET', `/${name}/-/keychain`)).json).toMatchObject({
      namespace: 'community.ann',
      keys: [
        { kid: 'k1', rotatedTo: 'k2' },
        { kid: 'k2', rotatedFrom: 'k1' },
      ],
    });
    expect((await publish(name, '1.1.0', archiveOf(name, '1.1.0'))).json['error']).toBe('signature_invalid');
    expect([await signedBy('1.2.0', stranger), await signedBy('1.2.0', second)]).toEqual([400, 201]);
  });

  it('says what it is', async () => {
    const { statusCode, body } = await app.inject({ url: '/.well-known/openwop-registry' });

    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ supportedNamespaces: ['vendor', 'community', 'private'] });
  });
});
