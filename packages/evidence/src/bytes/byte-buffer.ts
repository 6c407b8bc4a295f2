/** Bytes that grow at the end. `bytes` may be longer than `length`; what lies beyond is not data. */
export interface ByteBuffer {
  bytes: Uint8Array;
  length: number;
}

/**
 * A capacity that is known beforehand costs no copy. It costs no memory either until it is written to, because fresh
 * pages are mapped on first touch.
 */
export function byteBuffer(capacity = 256): ByteBuffer {
  return { bytes: new Uint8Array(capacity), length: 0 };
}

/** Makes room for `extra` more bytes. */
export function reserve(buffer: ByteBuffer, extra: number): void {
  const needed = buffer.length + extra;
  if (needed <= buffer.bytes.length) return;
  const grown = new Uint8Array(Math.max(needed, buffer.bytes.length * 2));
  grown.set(buffer.bytes.subarray(0, buffer.length));
  buffer.bytes = grown;
}
