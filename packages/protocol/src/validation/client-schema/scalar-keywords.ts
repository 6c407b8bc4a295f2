import { canonicalJson } from '../../json/canonical.ts';
import { isJsonObject, type Json } from '../../json/json.ts';
import { chargeWhole, type Run } from './evaluate.ts';
import { formatCheck } from './formats.ts';
import { type Keyword, type Keywords, wrong } from './keyword.ts';
import type { Shape } from './shapes.ts';

/** Keywords that look at a value as a whole: its type, which one it is, how large or long it is. */

const typeKeyword: Keyword = {
  shape: 'types',
  make: (wanted, site) => {
    const types = Array.isArray(wanted) ? (wanted as string[]) : [wanted as string];
    const allowed = site.schema['nullable'] === true ? [...types, 'null'] : types;
    return (value, at, run) =>
      allowed.some((type) => isOfType(value, type)) || wrong(site, at, run, { type: wanted });
  },
};

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Scalars are looked up as they are, everything else by its canonical text. */
export function oneOfValues(values: readonly Json[]): (value: Json, run: Run) => boolean {
  const scalars = new Set(values.filter(isScalar));
  const texts = new Set(values.filter((value) => !isScalar(value)).map(canonicalJson));
  return (value, run) => {
    if (typeof value === 'string') run.budget.spend(value.length / 16);
    if (isScalar(value)) return scalars.has(value);
    if (texts.size === 0) return false;
    chargeWhole(value, run.budget);
    return texts.has(canonicalJson(value));
  };
}

export function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}

function numberKeyword(
  isMet: (value: number, limit: number) => boolean,
  words: string,
  shape: Shape = 'number',
): Keyword {
  return {
    shape,
    make: (limit, site) => (value, at, run) =>
      typeof value !== 'number' ||
      isMet(value, limit as number) ||
      wrong(site, at, run, { limit }, `must be ${words} ${String(limit)}`),
  };
}

function lengthKeyword(isMet: (text: string, limit: number) => boolean): Keyword {
  return {
    shape: 'count',
    make: (limit, site) => (value, at, run) => {
      if (typeof value !== 'string') return true;
      run.budget.spend(value.length / 4);
      return isMet(value, limit as number) || wrong(site, at, run, { limit });
    },
  };
}

/** Characters, not units of UTF-16. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.codePointAt(at) as number) <= 0xffff) continue;
    length -= 1;
    at += 1;
  }
  return length;
}

export const VALUE_KEYWORDS: Keywords = {
  type: typeKeyword,
  const: {
    shape: 'any',
    make: (wanted, site) => {
      const isWanted = oneOfValues([wanted]);
      return (value, at, run) => isWanted(value, run) || wrong(site, at, run, { allowedValue: wanted });
    },
  },
  enum: {
    shape: 'values',
    make: (wanted, site) => {
      const isWanted = oneOfValues(wanted as Json[]);
      return (value, at, run) => isWanted(value, run) || wrong(site, at, run, { allowedValues: wanted });
    },
  },
};

export const SCALAR_KEYWORDS: Keywords = {
  maximum: numberKeyword((value, limit) => value <= limit, '<='),
  minimum: numberKeyword((value, limit) => value >= limit, '>='),
  exclusiveMaximum: numberKeyword((value, limit) => value < limit, '<'),
  exclusiveMinimum: numberKeyword((value, limit) => value > limit, '>'),
  multipleOf: numberKeyword((value, unit) => Number.isInteger(value / unit), 'a multiple of', 'positive'),
  maxLength: lengthKeyword((text, limit) => text.length <= limit || lengthOf(text) <= limit),
  minLength: lengthKeyword((text, limit) => text.length >= limit && lengthOf(text) >= limit),
  pattern: {
    shape: 'string',
    make: (source, site) => {
      const pattern = site.pattern(source as string);
      return (value, at, run) =>
        typeof value !== 'string' ||
        pattern.test(value, run.budget) ||
        wrong(site, at, run, { pattern: source });
    },
  },
  format: {
    shape: 'string',
    make: (format, site) => {
      const isRight = formatCheck(format as string);
      if (isRight === undefined) return undefined;
      return (value, at, run) => {
        if (typeof value !== 'string') return true;
        run.budget.spend(2 * value.length);
        return isRight(value) || wrong(site, at, run, { format });
      };
    },
  },
};
