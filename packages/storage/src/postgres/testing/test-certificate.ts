import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Certificates for tests (X.509 v3, ECDSA over P-256), made on the spot: a key in the repository would be one that leaked. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority extends Issued {
  /** For a server of these names and addresses, or a client with this common name. */
  issue(commonName: string, names?: readonly string[]): Issued;
}

export function newAuthority(commonName = 'Weft test authority'): Authority {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signedBy = { privateKey, commonName };
  return {
    ...issued(
      privateKey,
      certificateOf({ commonName, key: privateKey, extensions: [IS_AUTHORITY] }, signedBy),
    ),
    issue(name, names = []) {
      const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const extensions = names.length === 0 ? [] : [alternativeNames(names)];
      return issued(key, certificateOf({ commonName: name, key, extensions }, signedBy));
    },
  };
}

interface Subject {
  readonly commonName: string;
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
}

interface Signer {
  readonly commonName: string;
  readonly privateKey: KeyObject;
}

function issued(key: KeyObject, certificate: Buffer): Issued {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: String(key.export({ type: 'pkcs8', format: 'pem' })),
  };
}

const DAY_MS = 86_400_000;

function certificateOf({ commonName, key, extensions }: Subject, signer: Signer): Buffer {
  const day = (days: number) => time(new Date(Date.now() + days * DAY_MS));
  const body = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    nameOf(signer.commonName),
    sequence(day(-1), day(30)),
    nameOf(commonName),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tagged(0xa3, sequence(...extensions))]),
  );
  return sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, signer.privateKey)));
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bits(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.of(0), bytes);
}

function octets(bytes: Buffer): Buffer {
  return tagged(0x04, bytes);
}

/** Object identifiers as they are encoded. */
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));

/** 1.2.840.10045.4.3.2 */
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));

/** basicConstraints, critical: CA. */
const IS_AUTHORITY = sequence(
  oid('551d13'),
  tagged(0x01, Buffer.of(0xff)),
  octets(sequence(tagged(0x01, Buffer.of(0xff)))),
);

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIPv4(name) ? tagged(0x87, Buffer.from(name.split('.').map(Number))) : tagged(0x82, Buffer.from(name)),
  );
  return sequence(oid('551d11'), octets(sequence(...entries)));
}

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(commonName)))));
}

/** GeneralizedTime, to the second. */
function time(at: Date): Buffer {
  return tagged(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`));
}
