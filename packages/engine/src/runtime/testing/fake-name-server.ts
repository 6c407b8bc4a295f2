import { createSocket, type RemoteInfo } from 'node:dgram';

/** A name server on loopback that knows a few names, and is silent where a dead one would be. */
export interface FakeNameServer {
  /** As a resolver takes it. */
  readonly address: string;
  /** Names asked for, in order; each once per type of address. */
  readonly asked: { readonly name: string; readonly type: 'A' | 'AAAA' | 'other' }[];
  close(): Promise<void>;
}

/** IPv4 addresses by name; `silent` names are never answered. Any other name does not exist. */
export interface Zone {
  readonly [name: string]: readonly string[] | 'silent' | 'broken';
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const NO_SUCH_NAME = 3;
const SERVER_FAILURE = 2;

export async function startFakeNameServer(zone: Zone): Promise<FakeNameServer> {
  const socket = createSocket('udp4');
  const asked: FakeNameServer['asked'] = [];
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = questionOf(query);
    asked.push({ name, type });
    const known = zone[name];
    if (known === 'silent') return;
    const code = known === 'broken' ? SERVER_FAILURE : known === undefined ? NO_SUCH_NAME : 0;
    const addresses = typeof known === 'object' && type === 'A' ? known : [];
    socket.send(answerTo(query.subarray(0, end), code, addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  return {
    address: `127.0.0.1:${port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'other';
  readonly end: number;
} {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: TYPES[query.readUInt16BE(at + 1)] ?? 'other',
    end: at + 5,
  };
}

/** The question again, then the addresses, which point back at its name. */
function answerTo(question: Buffer, code: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
