import { isJsonObject, type Json } from '@weft/protocol';

/** What stands in a report in place of a secret. */
export const HIDDEN = '[hidden]';
/** Shorter texts stand in many places by chance, and are no secret of any host. */
const LEAST_LENGTH = 8;
/** Members that are a credential wherever they stand. */
const SECRET_MEMBERS = new Set(['interruptToken', 'secret', 'apiKey', 'accessToken', 'refreshToken']);
/** Members that are a credential in the answer to a registration, and something harmless elsewhere. */
const REGISTERED_MEMBERS = new Set(['key', 'token']);
const INTERRUPT_LINK = /\/v1\/interrupts\/([^/?#"'\\\s]+)/g;

/** Keeps secrets out of what is shown, by their values: wherever one stands, in whatever form it was written. */
export interface Masks {
  hide(secret: string): void;
  /** Finds what a host gave out or was sent: tokens of interrupts, and secrets that are shown once. */
  learn(text: string, isRegistration?: boolean): void;
  mask(text: string): string;
}

export function createMasks(secrets: readonly string[] = []): Masks {
  const forms = new Set<string>();

  function hide(secret: string): void {
    if (secret.length >= LEAST_LENGTH && secret !== HIDDEN)
      for (const form of formsOf(secret)) forms.add(form);
  }
  for (const secret of secrets) hide(secret);

  return {
    hide,
    learn(text, isRegistration = false) {
      for (const [, token = ''] of text.matchAll(INTERRUPT_LINK)) {
        hide(token);
        hide(decoded(token));
      }
      for (const document of documentsIn(text))
        for (const [name, value] of textMembersOf(document))
          if (SECRET_MEMBERS.has(name) || (isRegistration && REGISTERED_MEMBERS.has(name))) hide(value);
    },
    mask(text) {
      let masked = text;
      // The longest first: a form may be a part of another.
      for (const form of [...forms].toSorted((a, b) => b.length - a.length))
        masked = masked.replaceAll(form, HIDDEN);
      return masked;
    },
  };
}

/** As it is, in a URL, in JSON, in hexadecimal digits, and in base64 wherever in a longer text it stands. */
function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    inJson,
    bytes.toString('hex'),
    ...[0, 1, 2].flatMap((before) => [
      wholeGroups(bytes, before, 'base64'),
      wholeGroups(bytes, before, 'base64url'),
    ]),
  ];
}

/** Base64 of the bytes after so many others, without the digits that depend on what is around them. */
function wholeGroups(bytes: Buffer, before: number, encoding: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString(encoding)
    .replace(/=+$/, '');
  const isCut = (before + bytes.length) % 3 !== 0;
  return text.slice(Math.ceil((before * 4) / 3), isCut ? -1 : undefined);
}

/** The text as JSON; or each of its lines, as streams have them. */
function documentsIn(text: string): Json[] {
  const whole = parsed(text);
  if (whole !== undefined) return [whole];
  if (!text.includes('oken') && !text.includes('ecret') && !text.includes('apiKey')) return [];
  return text.split('\n').flatMap((line) => parsed(line.slice(Math.max(0, line.indexOf('{')))) ?? []);
}

function* textMembersOf(value: Json): Generator<readonly [string, string]> {
  if (Array.isArray(value)) for (const item of value) yield* textMembersOf(item);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string') yield [name, member];
      else if (member !== undefined) yield* textMembersOf(member);
    }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
