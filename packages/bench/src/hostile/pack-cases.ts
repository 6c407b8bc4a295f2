import { gzipSync } from 'node:zlib';
import type { JsonObject } from '@weft/protocol';
import type { Answer, Attacker } from './attacker.ts';
import type { HostileCase } from './corpus.ts';
import { statusesOf } from './statuses.ts';

/** What someone who may publish packs can do to a registry. */

interface Entry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  readonly type?: string;
  /** Said in place of the true length. */
  readonly size?: number;
}

const NAME = 'vendor.hostile.pack';
const MANIFEST: JsonObject = {
  name: NAME,
  version: '1.0.0',
  engines: { openwop: '^1.0.0' },
  nodes: [{ typeId: 'hostile.node', version: '1.0.0', category: 'data', role: 'pure' }],
  runtime: { language: 'wasm', entry: 'dist/a.wasm' },
};
const MODULE: Entry = { name: 'dist/a.wasm', data: '\0asm' };

function tar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, data = '', type = '0', size }) => {
    const bytes = Buffer.from(data);
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(type === '2' ? '/etc/passwd' : '', 157);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const pack = (change: JsonObject | string = {}, more: readonly Entry[] = []): Buffer => {
  const text = typeof change === 'string' ? change : JSON.stringify({ ...MANIFEST, ...change });
  return gzipSync(tar([{ name: 'pack.json', data: text }, MODULE, ...more]));
};

interface Sent {
  readonly body: () => Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly at?: string;
}

const AT = `/v1/packs/${NAME}/-/1.0.0.tgz`;
const MEGABYTE = 1024 * 1024;

const SENT: Readonly<Record<string, Sent>> = {
  'a wrong digest': { body: () => pack(), headers: { 'x-pack-sha256': `sha256-${'A'.repeat(43)}=` } },
  'a wrong signature': {
    body: () => pack(),
    headers: { 'x-pack-archive-signature': Buffer.alloc(64, 1).toString('base64') },
  },
  'a signature without a key': {
    body: () =>
      pack({ signing: { method: 'manual', publicKeyRef: 'keys/none.pem', signatureRef: 'pack.json.sig' } }),
  },
  'another name': { body: () => pack({ name: 'vendor.other.pack' }) },
  'a name that is a path': { at: '/v1/packs/..%2f..%2fetc/-/1.0.0.tgz', body: () => pack() },
  'a scope of the protocol': { at: '/v1/packs/core.hostile.pack/-/1.0.0.tgz', body: () => pack() },
  'an engine that does not exist': { body: () => pack({ engines: { openwop: '>=99 || (((' } }) },
  'a runtime that does not exist': {
    body: () => pack({ runtime: { language: 'perl', entry: 'dist/a.wasm' } }),
  },
  'a type of the host': {
    body: () =>
      pack({ nodes: [{ typeId: 'core.http.request', version: '9.0.0', category: 'data', role: 'pure' }] }),
  },
  'ten thousand types': {
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
  'a path out of the archive': { body: () => pack({}, [{ name: '../../../etc/passwd', data: 'x' }]) },
  'a link': { body: () => pack({}, [{ name: 'dist/link', type: '2' }]) },
  'one name twice': { body: () => pack({}, [MODULE, MODULE]) },
  'a length that is a lie': { body: () => pack({}, [{ name: 'dist/short', data: 'x', size: 2 ** 32 }]) },
  'fifty thousand files': {
    body: () =>
      pack(
        {},
        Array.from({ length: 50_000 }, (_, at): Entry => ({ name: `dist/${at}` })),
      ),
  },
  'a thousand archives in one': {
    body: () => Buffer.concat(Array<Buffer>(1_000).fill(gzipSync(Buffer.alloc(MEGABYTE)))),
  },
  'sixty megabytes of nothing': { body: () => gzipSync(Buffer.alloc(60 * MEGABYTE)) },
  'a manifest of lists in lists': { body: () => pack('['.repeat(200_000)) },
  'half an archive': { body: () => pack().subarray(0, 200) },
  'a module without exports': { body: () => pack() },
};

async function put(
  { port, key }: Attacker,
  body: Uint8Array,
  { headers = {}, at = AT }: Sent,
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

export const PACK_CASES: readonly HostileCase[] = [
  ...Object.entries(SENT).map(
    ([name, sent]): HostileCase => ({
      kind: 'pack',
      name,
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
