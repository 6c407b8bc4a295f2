import { isJsonObject, type Json } from '@weft/protocol';
import { joined } from '../../core/redaction/marked-texts.ts';
import {
  type Allowance,
  createLiteralSearch,
  type Finder,
  newAllowance,
} from '../../core/redaction/scan/literal-search.ts';
import { secretMark } from '../../core/redaction/scan/marks.ts';
import { createPieceMask, type PieceMask } from '../../core/redaction/scan/piece-mask.ts';

/**
 * Replaces secret values by `[REDACTED:<secretId>]`, and other given texts by their marks, wherever they stand and in other
 * spellings.
 *
 * Secrets of fewer than eight characters are left alone: they would match by accident.
 * Where values overlap, everything that any of them covers is replaced by one mark, so that no end of one remains.
 * Of text that comes in pieces, what could be the beginning of a value is held back until it is known.
 */
export interface SecretMask {
  add(secretId: string, value: string): void;
  text(text: string): string;
  /** Strings, numbers and names of members at any depth. Names in `keep` belong to the shape and stay. */
  json<Value extends Json | undefined>(value: Value, keep?: ReadonlySet<string>): Value;
  /** For one text in several pieces. */
  pieces(): PieceMask;
  /** For one sequence of bytes in several pieces; values are looked for as UTF-8. */
  bytes(): ByteMask;
}

export interface ByteMask {
  next(piece: Uint8Array, isLast: boolean): Uint8Array;
}

export const MIN_SECRET_LENGTH = 8;

const asItIs = (mark: string): string => mark;

const NOTHING_KEPT: ReadonlySet<string> = new Set();

/** `others` are hidden, too; like those of secrets, their tags are their marks. */
export function createSecretMask(others?: Finder<string>): SecretMask {
  const secrets = createLiteralSearch<string>();
  const search = others === undefined ? secrets : joined(secrets, others);

  function text(from: string, allowance?: Allowance): string {
    const whole = search.tagOf(from);
    if (whole !== undefined) return whole;
    let result = '';
    let at = 0;
    for (const { start, end, tag: mark } of search.find(from, undefined, allowance)) {
      result += from.slice(at, start) + mark;
      at = end;
    }
    return at === 0 ? from : result + from.slice(at);
  }

  function json(value: Json, keep: ReadonlySet<string>, allowance: Allowance): Json {
    if (typeof value === 'string') return text(value, allowance);
    if (typeof value === 'number') {
      const masked = text(String(value), allowance);
      return masked === String(value) ? value : masked;
    }
    if (Array.isArray(value)) return value.map((item) => json(item, keep, allowance));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        keep.has(name) ? name : text(name, allowance),
        json(member, keep, allowance),
      ]),
    );
  }

  return {
    add(secretId, value) {
      if (value.length >= MIN_SECRET_LENGTH) secrets.add(value, secretMark(secretId));
    },
    text: (from) => text(from),
    json: <Value extends Json | undefined>(value: Value, keep = NOTHING_KEPT): Value =>
      search.size === 0 || value === undefined ? value : (json(value, keep, newAllowance()) as Value),
    pieces: () => createPieceMask(search, asItIs),
    bytes() {
      const pieces = createPieceMask(search, asItIs);
      return {
        next: (piece, isLast) => {
          if (search.size === 0) return piece;
          // One character per byte, so that searching text is searching bytes.
          const latin1 = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1');
          return Buffer.from(pieces.next(latin1, isLast), 'latin1');
        },
      };
    },
  };
}
