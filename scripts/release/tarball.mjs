/** What is in an npm tarball. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const BLOCK = 512;

/** Path inside the package → bytes. */
export function readTarball(path) {
  const bytes = gunzipSync(readFileSync(path));
  const files = new Map();
  let longPath;
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const header = bytes.subarray(at, at + BLOCK);
    const size = Number.parseInt(text(header, 124, 12), 8);
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    const kind = text(header, 156, 1);
    // A path too long for its field stands in an extended header before the file.
    if (kind === 'x') longPath = /\d+ path=(.*)\n/.exec(content.toString('utf8'))?.[1];
    else if (kind === '0' || kind === '') {
      const prefix = text(header, 345, 155);
      const name = longPath ?? (prefix === '' ? text(header, 0, 100) : `${prefix}/${text(header, 0, 100)}`);
      files.set(name.replace(/^package\//, ''), content);
      longPath = undefined;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function text(header, start, length) {
  return header
    .subarray(start, start + length)
    .toString('utf8')
    .split('\0', 1)[0]
    .trim();
}
