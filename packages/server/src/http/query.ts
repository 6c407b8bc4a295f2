import { HostError, nameProblem } from '@weft/protocol';
import type { Call } from '../call.ts';

/** Query parameters, read one by one; unknown parameters are ignored, as the protocol wants. */
export type Query = Readonly<Record<string, string | string[] | undefined>>;

export function queryOf(call: Call): Query {
  return call.query as Query;
}

export function textParam(query: Query, name: string): string | undefined {
  const value = query[name];
  if (Array.isArray(value)) throw invalid(name, `The parameter "${name}" may be given once.`);
  return value === undefined ? undefined : checked(name, value);
}

/** What is asked for by a parameter has a name. */
function checked(name: string, value: string): string {
  const problem = nameProblem(value);
  if (problem === undefined) return value;
  throw invalid(name, `The parameter "${name}" ${problem}.`);
}

export function listParam(query: Query, name: string): readonly string[] | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  const parts = Array.isArray(value) ? value : [value];
  return parts.flatMap((part) => checked(name, part).split(',')).filter((part) => part !== '');
}

export function integerParam(
  query: Query,
  name: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const value = parseInteger(text);
  if (value === undefined || value < range.min || value > range.max) {
    const expected =
      range.max === Number.MAX_SAFE_INTEGER ? `${range.min} or more` : `from ${range.min} to ${range.max}`;
    throw invalid(name, `The parameter "${name}" must be an integer ${expected}.`, {
      min: range.min,
      max: range.max,
    });
  }
  return value;
}

export function booleanParam(query: Query, name: string): boolean {
  const text = textParam(query, name);
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1' || text === '') return true;
  throw invalid(name, `The parameter "${name}" must be true or false.`);
}

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

export function timeParam(query: Query, name: string): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw invalid(
      name,
      `The parameter "${name}" must be a date or an RFC 3339 time, such as 2026-01-31T12:00:00Z.`,
    );
  }
  return time;
}

/** Decimal digits with an optional minus, small enough to be exact; anything else is undefined. */
export function parseInteger(text: string): number | undefined {
  if (!/^-?\d{1,15}$/.test(text)) return undefined;
  return Number(text);
}

function invalid(field: string, message: string, more: Record<string, number> = {}): HostError {
  return new HostError('validation_error', message, { field, ...more });
}
