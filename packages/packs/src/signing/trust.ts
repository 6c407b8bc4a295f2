/**
 * Whom this host trusts: the mode, the packs that are allowed, and the keys. It is one file of the operator, `trust.json`; nothing
 * in a pack can change it.
 */
import type { KeyObject } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { documentReader } from '../closed-document.ts';
import { PackError } from '../pack-error.ts';
import { isSignedBy, publicKeyOf, publicKeyText } from './ed25519.ts';

export const TRUST_MODES = {
  allowlist: 'only packs that the list names',
  pinned: 'only archives whose digest was given',
  verified: 'only archives signed by a key of the keychain',
  open: 'any pack, for development',
} as const;

export type TrustMode = keyof typeof TRUST_MODES;
export const DEFAULT_TRUST_MODE: TrustMode = 'verified';

const optional = Type.Optional;
const moment = Type.String({ format: 'date-time' });
const closed = { additionalProperties: false } as const;
/** A pack, or all of an owner: `vendor.acme.payments`, `vendor.acme.*`. */
const PATTERN = '^(vendor|community|private)\\.[a-z][a-zA-Z0-9_-]*(\\.[a-z][a-zA-Z0-9_-]*)*(\\.\\*)?$';

const KeySchema = Type.Object(
  {
    kid: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
    algorithm: Type.Literal('ed25519'),
    publicKey: Type.String({ minLength: 1, maxLength: 1024 }),
    validFrom: moment,
    validUntil: optional(moment),
    /** What it signed is not loaded from then on, whenever it was signed. */
    revokedAt: optional(moment),
    rotatedFrom: optional(Type.String({ minLength: 1, maxLength: 64 })),
    rotatedTo: optional(Type.String({ minLength: 1, maxLength: 64 })),
    /** The older key over kid, publicKey and validFrom, in base64. */
    rotationProof: optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  closed,
);

const TrustSchema = Type.Object(
  {
    mode: optional(Type.Enum(Object.keys(TRUST_MODES) as TrustMode[])),
    allow: optional(Type.Array(Type.String({ pattern: PATTERN, maxLength: 256 }), { maxItems: 1_000 })),
    keychains: optional(
      Type.Array(
        Type.Object(
          {
            namespace: Type.String({ pattern: PATTERN.replace('(\\.\\*)?', ''), maxLength: 256 }),
            keys: Type.Array(KeySchema, { maxItems: 100 }),
          },
          closed,
        ),
        { maxItems: 1_000 },
      ),
    ),
  },
  closed,
);

export type KeyDocument = Static<typeof KeySchema>;

export interface TrustedKey {
  readonly kid: string;
  /** Names of packs that it may sign begin with this. */
  readonly namespace: string;
  readonly key: KeyObject;
  readonly validFrom: number;
  readonly validUntil: number;
  readonly revokedAt: number;
}

export interface Trust {
  readonly mode: TrustMode;
  readonly allow: readonly string[];
  readonly keys: readonly TrustedKey[];
}

export const NO_TRUST: Trust = { mode: DEFAULT_TRUST_MODE, allow: [], keys: [] };

const readDocument = documentReader(TrustSchema, 'trust.json', 'keychain_invalid');
const readKey = documentReader(KeySchema, 'The key', 'keychain_invalid');

/** A key as a client sends it. Throws `keychain_invalid`. */
export function keyDocumentOf(value: object): KeyDocument {
  return readKey(JSON.stringify(value));
}

/** Throws `keychain_invalid`. */
export function readTrust(text: string): Trust {
  const { mode = DEFAULT_TRUST_MODE, allow = [], keychains = [] } = readDocument(text);
  const keys = keychains.flatMap(({ namespace, keys: documents }) => trustedKeys(namespace, documents));
  return { mode, allow, keys };
}

/** Throws `keychain_invalid`. */
export function trustedKeys(namespace: string, documents: readonly KeyDocument[]): TrustedKey[] {
  return documents.map((document) => trustedKey(namespace, document, documents));
}

function trustedKey(namespace: string, document: KeyDocument, others: readonly KeyDocument[]): TrustedKey {
  const { kid, publicKey, validFrom, validUntil, revokedAt } = document;
  const place = `The key ${kid} of ${namespace}`;
  const key = publicKeyOf(publicKey, place);
  if (others.some((other) => other !== document && other.kid === kid))
    throw new PackError('keychain_invalid', `${place} is there twice.`);
  checkRotation(document, others, place);
  return {
    kid,
    namespace,
    key,
    validFrom: Date.parse(validFrom),
    validUntil: validUntil === undefined ? Number.POSITIVE_INFINITY : Date.parse(validUntil),
    revokedAt: revokedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(revokedAt),
  };
}

/** A key that says it follows another one was signed by that one. */
function checkRotation(document: KeyDocument, others: readonly KeyDocument[], place: string): void {
  const { rotatedFrom, rotationProof } = document;
  if (rotatedFrom === undefined && rotationProof === undefined) return;
  const older = others.find((other) => other.kid === rotatedFrom);
  if (older === undefined || !proves(older, document))
    throw new PackError(
      'keychain_invalid',
      `${place} says that it follows ${rotatedFrom ?? 'another one'}, and its rotationProof does not show it.`,
    );
}

/** Whether the older key has signed the newer one. */
export function proves(
  older: KeyDocument,
  { kid, publicKey, validFrom, rotationProof = '' }: KeyDocument,
): boolean {
  return isSignedBy(
    Buffer.from(`${kid}${publicKey}${validFrom}`),
    Buffer.from(rotationProof, 'base64'),
    publicKeyOf(older.publicKey, `The key ${older.kid}`),
  );
}

/** Whether a pattern of an allowlist names the pack. */
function isNamedBy(name: string, pattern: string): boolean {
  return pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

export function isAllowed({ allow }: Trust, name: string): boolean {
  return allow.some((pattern) => isNamedBy(name, pattern));
}

/** When a signature counts: at installation the key must be valid; what is installed only ends with its revocation. */
export type Occasion = 'install' | 'load';

export interface Signed {
  readonly kid: string;
  readonly publicKey: string;
}

/**
 * Which key of the keychain signed the archive. The bytes are checked before anything in them is read; that the key may sign packs
 * of this name is asked afterwards (`checkSigner`). Throws PackError.
 */
export function findSigner(
  trust: Pick<Trust, 'keys'>,
  archive: Uint8Array,
  signature: Uint8Array,
  place = 'trust.json',
): TrustedKey {
  const signer = trust.keys.find(({ key }) => isSignedBy(archive, signature, key));
  if (signer !== undefined) return signer;
  if (trust.keys.length === 0)
    throw new PackError('signature_unknown_key', `${place} has no key. Add the key of its author.`);
  throw new PackError(
    'signature_invalid',
    `None of the ${trust.keys.length} keys of ${place} has signed this archive: it was changed, or its signer is not known here.`,
  );
}

/** Throws `signature_unknown_key`. */
export function checkSigner(signer: TrustedKey, name: string, at: number, occasion: Occasion): Signed {
  const { kid, namespace, key, validFrom, validUntil, revokedAt } = signer;
  const problem =
    at >= revokedAt
      ? `was revoked at ${new Date(revokedAt).toISOString()}`
      : !`${name}.`.startsWith(`${namespace}.`)
        ? `may sign packs of ${namespace}, not ${name}`
        : occasion === 'install' && at < validFrom
          ? `is not valid before ${new Date(validFrom).toISOString()}`
          : occasion === 'install' && at > validUntil
            ? `is not valid after ${new Date(validUntil).toISOString()}`
            : undefined;
  if (problem !== undefined)
    throw new PackError('signature_unknown_key', `The pack is signed by the key ${kid}, which ${problem}.`);
  return { kid, publicKey: publicKeyText(key) };
}
