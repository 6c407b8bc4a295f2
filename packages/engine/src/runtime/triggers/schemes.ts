import { createHmac, timingSafeEqual } from 'node:crypto';
import { isJsonObject, type Json } from '@weft/protocol';
import { sha256Bytes } from '../../crypto/hash.ts';

/** How senders prove that a delivery is theirs. Everything is verified over the bytes as they came. */
export const TRIGGER_SCHEMES = ['hmac', 'github', 'stripe', 'slack', 'shared-secret'] as const;
export type TriggerScheme = (typeof TRIGGER_SCHEMES)[number];

/** A delivery as it arrived, before anything is made of it. */
export interface RawDelivery {
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

interface Scheme {
  /** The sender makes the secret; otherwise this host can. */
  readonly isSendersSecret: boolean;
  /** Signatures that came along, and what the right one is over; undefined when something is missing. */
  readonly signed: (delivery: RawDelivery, secret: string) => Signed | '' | undefined;
  /** What the sender calls this delivery, where it says so. */
  readonly deliveryId: (delivery: RawDelivery, content: Json) => string | undefined;
  /** What of a delivery is as signed, where the id is not: the same of two deliveries is one that was repeated. */
  readonly signature?: (delivery: RawDelivery) => string | undefined;
  /** What is answered at once, without starting anything. */
  readonly handshake?: (delivery: RawDelivery, content: Json) => Json | undefined;
}

interface Signed {
  readonly given: readonly string[];
  readonly expected: string;
  /** Seconds since the epoch, where the sender signs a time. */
  readonly at?: string;
}

const hmacHex = (secret: string, ...parts: readonly (string | Uint8Array)[]): string => {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
};

const protocolSignature = (headers: RawDelivery['headers']): string | undefined =>
  headers['openwop-signature'] ?? headers['x-openwop-signature'];

const memberText = (content: Json, name: string): string | undefined => {
  const value = isJsonObject(content) ? content[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const SCHEMES: Readonly<Record<TriggerScheme, Scheme>> = {
  /** The protocol's own, version 1: what a webhook of this host sends. */
  hmac: {
    isSendersSecret: false,
    signed({ headers, body }, secret) {
      const at = headers['openwop-timestamp'] ?? headers['x-openwop-timestamp'];
      const given = protocolSignature(headers);
      if (at === undefined || given === undefined) return undefined;
      return { given: [given], expected: `sha256=${hmacHex(secret, `${at}.`, body)}`, at };
    },
    // Without an id the signature is one: it covers the time and the content.
    deliveryId: ({ headers }) => headers['openwop-delivery-id'] ?? protocolSignature(headers),
    // The id is not signed: an attacker could replay a captured delivery under another one.
    signature: ({ headers }) => protocolSignature(headers),
  },
  github: {
    isSendersSecret: false,
    signed({ headers, body }, secret) {
      const given = headers['x-hub-signature-256'];
      return given === undefined
        ? undefined
        : { given: [given], expected: `sha256=${hmacHex(secret, body)}` };
    },
    deliveryId: ({ headers }) => headers['x-github-delivery'],
    handshake: ({ headers }) => (headers['x-github-event'] === 'ping' ? { ignored: 'ping' } : undefined),
  },
  stripe: {
    isSendersSecret: true,
    signed({ headers, body }, secret) {
      const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim().split('='));
      const at = parts.find(([name]) => name === 't')?.[1];
      const given = parts.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []));
      return at === undefined ? undefined : { given, expected: hmacHex(secret, `${at}.`, body), at };
    },
    deliveryId: (_delivery, content) => memberText(content, 'id'),
  },
  slack: {
    isSendersSecret: true,
    signed({ headers, body }, secret) {
      const at = headers['x-slack-request-timestamp'];
      const given = headers['x-slack-signature'];
      if (at === undefined || given === undefined) return undefined;
      return { given: [given], expected: `v0=${hmacHex(secret, `v0:${at}:`, body)}`, at };
    },
    deliveryId: ({ headers }, content) =>
      memberText(content, 'event_id') ?? memberText(content, 'trigger_id') ?? headers['x-slack-signature'],
    handshake(_delivery, content) {
      if (memberText(content, 'type') !== 'url_verification') return undefined;
      return { challenge: memberText(content, 'challenge') ?? '' };
    },
  },
  'shared-secret': {
    isSendersSecret: false,
    // Compared under a hash of the content, so that it costs what a signature costs.
    signed({ headers, body }, secret) {
      const bearer = /^bearer +(.+)$/i.exec(headers['authorization'] ?? '')?.[1];
      const given = headers['x-weft-secret'] ?? bearer;
      return given && { given: [hmacHex(given, body)], expected: hmacHex(secret, body) };
    },
    deliveryId: ({ headers }) => headers['x-delivery-id'],
  },
};

/** Senders send a few while a secret is replaced. */
const MOST_SIGNATURES = 8;
const SECONDS = /^\d{1,12}$/;

/**
 * Whether a delivery was signed with the secret, and lately.
 *
 * D-9. Signatures are compared in a time that does not depend on them, and a delivery without one costs as much as one with a
 *      wrong one. Nothing of the content is read before.
 */
export function isGenuine(
  scheme: TriggerScheme,
  delivery: RawDelivery,
  secret: string,
  { now, toleranceMs }: { readonly now: number; readonly toleranceMs: number },
): boolean {
  const { given, expected, at } = SCHEMES[scheme].signed(delivery, secret) || {
    given: [''],
    expected: hmacHex(secret, delivery.body),
  };
  let isSigned = false;
  for (const signature of given.slice(0, MOST_SIGNATURES))
    isSigned = isEqual(signature, expected) || isSigned;
  const isLate = at !== undefined && !(SECONDS.test(at) && Math.abs(now - Number(at) * 1_000) <= toleranceMs);
  return isSigned && !isLate;
}

/** Hashed first: texts of any length take the same time. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256Bytes(Buffer.from(a)), sha256Bytes(Buffer.from(b)));
}

const LONGEST_ID = 512;

export function deliveryIdOf(
  scheme: TriggerScheme,
  delivery: RawDelivery,
  content: Json,
): string | undefined {
  return SCHEMES[scheme].deliveryId(delivery, content)?.slice(0, LONGEST_ID);
}

export function signatureOf(scheme: TriggerScheme, delivery: RawDelivery): string | undefined {
  return SCHEMES[scheme].signature?.(delivery);
}

export function handshakeOf(scheme: TriggerScheme, delivery: RawDelivery, content: Json): Json | undefined {
  return SCHEMES[scheme].handshake?.(delivery, content);
}

export function isSendersSecret(scheme: TriggerScheme): boolean {
  return SCHEMES[scheme].isSendersSecret;
}
