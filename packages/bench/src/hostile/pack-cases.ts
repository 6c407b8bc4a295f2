import { sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Answer, Attacker } from './attacker.ts';
import type { HostileCase } from './corpus.ts';
import { type Entry, MODULE, packArchive as pack, PUBLISHED } from './pack-archives.ts';
import { newKey } from './signing-key.ts';
import { statusesOf } from './statuses.ts';

/** What someone who may publish packs can do to a registry. */

interface Sent {
  /** The code with which it is refused. */
  readonly ends: string;
  readonly body: () => Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly at?: string;
}

const AT = `/v1/packs/${PUBLISHED}/-/1.0.0.tgz`;
const MEGABYTE = 1024 * 1024;

const SENT: Readonly<Record<string, Sent>> = {
  'a wrong digest': {
    ends: 'pack_integrity_failure',
    body: () => pack(),
    headers: { 'x-pack-sha256': `sha256-${'A'.repeat(43)}=` },
  },
  'a wrong signature': {
    ends: 'signature_invalid',
    body: () => pack(),
    headers: { 'x-pack-archive-signature': Buffer.alloc(64, 1).toString('base64') },
  },
  'a signature without a key': {
    ends: 'signature_invalid',
    body: () =>
      pack({ signing: { method: 'manual', publicKeyRef: 'keys/none.pem', signatureRef: 'pack.json.sig' } }),
  },
  'another name': { ends: 'manifest_name_mismatch', body: () => pack({ name: 'vendor.other.pack' }) },
  'a name that is a path': {
    ends: 'invalid_pack_name',
    at: '/v1/packs/..%2f..%2fetc/-/1.0.0.tgz',
    body: () => pack(),
  },
  'a scope of the protocol': {
    ends: 'invalid_pack_scope',
    at: '/v1/packs/core.hostile.pack/-/1.0.0.tgz',
    body: () => pack(),
  },
  'an engine that does not exist': {
    ends: 'invalid_engines_range',
    body: () => pack({ engines: { openwop: '>=99 || (((' } }),
  },
  'a runtime that does not exist': {
    ends: 'invalid_manifest',
    body: () => pack({ runtime: { language: 'perl', entry: 'dist/a.wasm' } }),
  },
  'a type of the host': {
    ends: 'invalid_manifest',
    body: () =>
      pack({ nodes: [{ typeId: 'core.http.request', version: '9.0.0', category: 'data', role: 'pure' }] }),
  },
  'ten thousand types': {
    ends: 'tarball_manifest_too_large',
    body: () =>
      pack({
        nodes: Array.from({ length: 10_000 }, (_, at) => ({
          typeId: `hostile.n${at}`,
          version: '1.0.0',
          category: 'data',
          role: 'pure',
        })),
      }),
  },
  'a path out of the archive': {
    ends: 'tarball_path_traversal',
    body: () => pack({}, [{ name: '../../../etc/passwd', data: 'x' }]),
  },
  'a link': { ends: 'tarball_tar_parse_failed', body: () => pack({}, [{ name: 'dist/link', type: '2' }]) },
  'one name twice': { ends: 'tarball_tar_parse_failed', body: () => pack({}, [MODULE, MODULE]) },
  'a length that is a lie': {
    ends: 'tarball_too_large',
    body: () => pack({}, [{ name: 'dist/short', data: 'x', size: 2 ** 32 }]),
  },
  'fifty thousand files': {
    ends: 'tarball_too_large',
    body: () =>
      pack(
        {},
        Array.from({ length: 50_000 }, (_, at): Entry => ({ name: `dist/${at}` })),
      ),
  },
  'a thousand archives in one': {
    ends: 'tarball_too_large',
    body: () => Buffer.concat(Array<Buffer>(1_000).fill(gzipSync(Buffer.alloc(MEGABYTE)))),
  },
  'sixty megabytes of nothing': {
    ends: 'tarball_too_large',
    body: () => gzipSync(Buffer.alloc(60 * MEGABYTE)),
  },
  'a manifest of lists in lists': {
    ends: 'tarball_manifest_not_json',
    body: () => pack('['.repeat(200_000)),
  },
  'half an archive': { ends: 'tarball_gunzip_failed', body: () => pack().subarray(0, 200) },
  // A registry runs none; it is refused where it is to be installed.
  'a module without exports': { ends: '201', body: () => pack() },
};

async function put(
  { port, key }: Attacker,
  body: Uint8Array,
  { headers = {}, at = AT }: Pick<Sent, 'headers' | 'at'>,
): Promise<Answer> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${at}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/gzip', ...headers },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    return { status: response.status, json: { error: /"error":"([a-z_]+)"/.exec(text)?.[1] ?? '' } };
  } catch (error) {
    return { status: 0, json: { error: error instanceof Error ? error.name : 'no answer' } };
  }
}

const KEYED = 'vendor.hostilekeys.pack';

/** A namespace whose only key is not valid yet, and a version that it has signed. */
async function publishEarly(attacker: Attacker): Promise<string> {
  const archive = (version: string) => pack({ name: KEYED, version });
  const { document, privateKey } = newKey({ validFrom: '2999-01-01T00:00:00Z' });
  const at = (version: string) => ({ at: `/v1/packs/${KEYED}/-/${version}.tgz` });
  await put(attacker, archive('1.0.0'), at('1.0.0'));
  await attacker.ask('POST', `/v1/packs/${KEYED}/-/keychain/rotate`, document);
  const signature = sign(null, archive('2.0.0'), privateKey).toString('base64');
  const headers = { 'x-pack-archive-signature': signature };
  const { status, json } = await put(attacker, archive('2.0.0'), { ...at('2.0.0'), headers });
  return `${status} ${String(json['error'])}`;
}

export const PACK_CASES: readonly HostileCase[] = [
  ...Object.entries(SENT).map(
    ([name, sent]): HostileCase => ({
      kind: 'pack',
      name,
      ends: sent.ends,
      async attack(attacker) {
        // Made once: the service that the other tenant calls lives in this process.
        const body = sent.body();
        const answers = await Promise.all(Array.from({ length: 8 }, () => put(attacker, body, sent)));
        return `${statusesOf(answers)} ${String(answers[0]?.json['error'])}`.trim();
      },
    }),
  ),
  {
    kind: 'pack',
    name: 'a signature by a key that is not valid yet',
    ends: 'signature_unknown_key',
    attack: publishEarly,
  },
  {
    kind: 'pack',
    name: 'searches without end',
    async attack(attacker) {
      const long = encodeURIComponent('a'.repeat(4_000));
      return statusesOf(
        await Promise.all(
          Array.from({ length: 200 }, (_, at) => attacker.ask('GET', `/v1/packs/-/search?q=${long}${at}`)),
        ),
      );
    },
  },
];
