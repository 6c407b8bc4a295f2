/**
 * The bytes inside a gzip stream, member by member. The framing is read here and not by zlib's own reader, because that
 * one drops the data it already has when something that is not gzip follows it.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';

const CHUNK = 256 * 1024;
const MAX_HEADER = 64 * 1024;
const MAX_MEMBERS = 1000;
const FIXED_HEADER = 10;
const TRAILER = 8;

/** Where the compressed bytes are. */
interface Source {
  readonly size: number;
  /** At most `length` bytes from `at`. */
  read(at: number, length: number): Promise<Buffer>;
  stream(at: number): Readable;
}

/** Calls `trailing` with the offset of bytes behind the last member, when there are any. */
export async function* gunzipFile(
  path: string,
  size: number,
  trailing: (at: number) => void,
): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  const source: Source = {
    size,
    async read(at, length) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    },
    stream: (at) => createReadStream(path, { start: at, highWaterMark: CHUNK }),
  };
  try {
    yield* gunzip(source, trailing);
  } finally {
    await file.close();
  }
}

/** The same for bytes that are in memory. */
export function gunzipBytes(bytes: Uint8Array, trailing: (at: number) => void): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const source: Source = {
    size: buffer.length,
    read: (at, length) => Promise.resolve(buffer.subarray(at, at + length)),
    stream: (at) => Readable.from(chunksOf(buffer, at), { objectMode: false }),
  };
  return gunzip(source, trailing);
}

function* chunksOf(buffer: Buffer, from: number): Generator<Buffer> {
  for (let at = from; at < buffer.length; at += CHUNK) yield buffer.subarray(at, at + CHUNK);
}

async function* gunzip(source: Source, trailing: (at: number) => void): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let member = 0; at < source.size; member += 1) {
    const header = await headerLength(source, at);
    if (header === undefined && member > 0) return trailing(at);
    if (header === undefined) throw damaged(at, 'no gzip header');
    if (member === MAX_MEMBERS) throw damaged(at, `more than ${MAX_MEMBERS} gzip members`);
    at = yield* inflateMember(source, at + header);
  }
}

/** Yields what one member holds and returns where the next thing begins. */
async function* inflateMember(source: Source, start: number): AsyncGenerator<Uint8Array, number> {
  const compressed = source.stream(start);
  const inflate = createInflateRaw({ chunkSize: CHUNK });
  compressed.on('error', (error) => inflate.destroy(error));
  compressed.pipe(inflate);
  let crc = 0;
  let length = 0;
  try {
    for await (const chunk of inflate) {
      const bytes = chunk as Uint8Array;
      crc = crc32(bytes, crc);
      length += bytes.length;
      yield bytes;
    }
  } finally {
    compressed.destroy();
    inflate.destroy();
  }
  const end = start + inflate.bytesWritten;
  const trailer = await source.read(end, TRAILER);
  if (trailer.length < TRAILER) throw damaged(end, 'the file ends inside the gzip trailer');
  if (trailer.readUInt32LE(0) !== crc || trailer.readUInt32LE(4) !== length % 2 ** 32)
    throw damaged(end, 'gzip checksum or length that does not match the data');
  return end + TRAILER;
}

/** Undefined when no gzip member begins here. */
async function headerLength(source: Source, at: number): Promise<number | undefined> {
  const header = await source.read(at, MAX_HEADER);
  if (header.length < FIXED_HEADER || header[0] !== 0x1f || header[1] !== 0x8b || header[2] !== 8)
    return undefined;
  const flags = header[3] as number;
  let length = FIXED_HEADER;
  if ((flags & 4) !== 0)
    length += 2 + (length + 2 <= header.length ? header.readUInt16LE(length) : MAX_HEADER);
  if ((flags & 8) !== 0) length = behindNul(header, length);
  if ((flags & 16) !== 0) length = behindNul(header, length);
  if ((flags & 2) !== 0) length += 2;
  if (length > header.length || (flags & 0xe0) !== 0) throw damaged(at, 'a gzip header that cannot be read');
  return length;
}

function behindNul(header: Buffer, from: number): number {
  const end = header.indexOf(0, from);
  return end === -1 ? Number.POSITIVE_INFINITY : end + 1;
}

function damaged(at: number, found: string): ArchiveError {
  return new ArchiveError('gzip_damaged', `byte ${at} of the file`, found, 'an undamaged gzip file');
}
