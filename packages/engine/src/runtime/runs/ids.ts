/** Source of random bytes; tests may bring their own. */
export type RandomBytes = (size: number) => Uint8Array;

/** Random bytes drawn in advance: one call into the platform serves hundreds of ids. No byte is given out twice. */
export function poolRandom(random: RandomBytes, poolSize = 4_096): RandomBytes {
  let pool: Uint8Array = new Uint8Array(0);
  let used = 0;
  return (size) => {
    if (size > poolSize) return random(size);
    if (used + size > pool.length) {
      pool = random(poolSize);
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}

/** 128 random bits as 22 characters of base64url: names a write, a command or a holder. */
export function randomId(random: RandomBytes): string {
  const bytes = random(16);
  return (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)).toString('base64url');
}

/**
 * UUIDv7 ids that grow strictly within this process: runs created later sort later, also within one millisecond and when
 * the clock steps back. The 12 bits after the version are a counter; 62 bits are random.
 */
export function createRunIds(now: () => number, random: RandomBytes): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = 0;
    } else if (++counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    return formatUuid(lastMs, counter, random(8));
  };
}

/** Where an id is put together; nothing else happens before it is text. */
const uuid = Buffer.alloc(16);

function formatUuid(ms: number, counter: number, tail: Uint8Array): string {
  uuid.writeUIntBE(ms, 0, 6);
  uuid.writeUInt16BE(0x7000 | counter, 6);
  uuid.set(tail, 8);
  uuid.writeUInt8(0x80 | (uuid.readUInt8(8) & 0x3f), 8);
  const hex = uuid.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
