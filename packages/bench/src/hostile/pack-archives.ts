import { gzipSync } from 'node:zlib';
import type { JsonObject } from '@weft/protocol';

/** Archives of packs as those write them who mean no good. */

export interface Entry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  readonly type?: string;
  /** Said in place of the true length. */
  readonly size?: number;
}

/** The name under which a registry is given what is wrong. */
export const PUBLISHED = 'vendor.hostile.pack';
const MANIFEST: JsonObject = {
  name: PUBLISHED,
  version: '1.0.0',
  engines: { openwop: '^1.0.0' },
  nodes: [{ typeId: 'hostile.node', version: '1.0.0', category: 'data', role: 'pure' }],
  runtime: { language: 'wasm', entry: 'dist/a.wasm' },
};
export const MODULE: Entry = { name: 'dist/a.wasm', data: '\0asm' };

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

export function archiveOf(entries: readonly Entry[]): Buffer {
  return gzipSync(tar(entries));
}

export const packArchive = (change: JsonObject | string = {}, more: readonly Entry[] = []): Buffer => {
  const text = typeof change === 'string' ? change : JSON.stringify({ ...MANIFEST, ...change });
  return archiveOf([{ name: 'pack.json', data: text }, MODULE, ...more]);
};
