import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '@weft/protocol';
import { writePackArchive } from '../archive/write-archive.ts';
import type { HostOffer } from '../install/requirements.ts';

/** Packs for tests: right ones, and pieces to make wrong ones of. */

export const MANIFEST: JsonObject = {
  name: 'vendor.acme.hello',
  version: '1.0.0',
  engines: { openwop: '^1.0.0' },
  nodes: [
    {
      typeId: 'acme.hello.greet',
      version: '1.0.0',
      category: 'data',
      role: 'pure',
      inputSchemaRef: 'schemas/greet.inputs.json',
    },
  ],
  runtime: { language: 'wasm', entry: 'dist/hello.wasm', format: 'wasm' },
};

export const FILES: Readonly<Record<string, string>> = {
  'dist/hello.wasm': '\0asm',
  'schemas/greet.inputs.json': '{"type":"object","properties":{"name":{"type":"string"}}}',
};

export const OFFER: HostOffer = { openwop: '1.0.0', languages: ['wasm'], toolScopes: ['mcp'] };

export function filesOf(
  manifest: JsonObject | string = MANIFEST,
  files: Readonly<Record<string, string | Uint8Array>> = FILES,
): Map<string, Uint8Array> {
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
  return new Map(
    Object.entries({ 'pack.json': text, ...files }).map(([name, data]) => [name, Buffer.from(data)]),
  );
}

export function archiveOf(...args: Parameters<typeof filesOf>): Uint8Array {
  return writePackArchive(filesOf(...args));
}

export interface RawEntry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  readonly type?: string;
  readonly link?: string;
  readonly size?: number;
}

/** An archive as an attacker would write it. */
export function rawArchive(entries: readonly RawEntry[], end: Uint8Array = Buffer.alloc(1024)): Uint8Array {
  const blocks = entries.flatMap((entry) => {
    const data = Buffer.from(entry.data ?? '');
    return [rawHeader(entry, data.length), data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, end]));
}

function rawHeader({ name, type = '0', link = '', size }: RawEntry, length: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${(size ?? length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(link, 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

export function newKey() {
  const { privateKey } = generateKeyPairSync('ed25519');
  return createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}
