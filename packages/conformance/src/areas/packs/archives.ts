import { gzipSync } from 'node:zlib';
import type { JsonObject } from '@weft/protocol';

/** Archives of packs as their authors, and attackers, would write them. */

export interface Entry {
  readonly name: string;
  readonly data?: string | Uint8Array;
}

export function manifestOf(name: string, version: string, change: JsonObject = {}): JsonObject {
  return {
    name,
    version,
    engines: { openwop: '^1.0.0' },
    nodes: [{ typeId: 'suite.nothing', version: '1.0.0', category: 'data', role: 'pure' }],
    runtime: { language: 'wasm', entry: 'dist/module.wasm', format: 'wasm' },
    ...change,
  };
}

export function archiveOf(manifest: JsonObject | string, more: readonly Entry[] = [MODULE]): Uint8Array {
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
  return tar([{ name: 'pack.json', data: text }, ...more]);
}

/** The head of a module; a registry runs none. */
export const MODULE: Entry = { name: 'dist/module.wasm', data: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) };

export function tar(entries: readonly Entry[]): Uint8Array {
  const blocks = entries.flatMap(({ name, data = '' }) => {
    const bytes = Buffer.from(data);
    return [headerOf(name, bytes.length), bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
