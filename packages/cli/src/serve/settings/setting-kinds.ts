import type { CliError } from '../../exit-code.ts';

/** What was given for a setting, with the name of where it came from, for messages. */
export interface Given {
  readonly values: readonly string[];
  readonly from: string;
  readonly error: (message: string) => CliError;
}

/** What a setting takes: how help shows it, and how it is read and checked. */
export interface SettingKind<Value> {
  readonly type: 'switch' | 'list' | 'number' | 'text' | 'choice';
  /** What stands for the value in help and in the reference. */
  readonly hint: string;
  /** What holds when nothing is given, for people. */
  readonly fallback: string;
  readonly read: (given: Given | undefined) => Value;
}

/** A form that texts must have; `parse` gives undefined for any other. */
export interface Form<Value> {
  readonly hint: string;
  /** Completes "--flag takes …". */
  readonly takes: string;
  /** It may hold a credential, so messages do not repeat it. */
  readonly isSecret?: boolean;
  readonly parse: (text: string) => Value | undefined;
}

export const SWITCH: SettingKind<boolean> = {
  type: 'switch',
  hint: 'true|false',
  fallback: 'off',
  read(given) {
    const value = given?.values.at(-1) ?? 'false';
    if (value === 'false' || value === '0') return false;
    if (value === 'true' || value === '1') return true;
    throw rejected(given, `takes true or false, not "${value}"`);
  },
};

export function text<Fallback extends string | undefined>(
  hint: string,
  fallback: Fallback,
): SettingKind<string | Fallback> {
  return { type: 'text', hint, fallback: fallback ?? 'none', read: (given) => lastText(given) ?? fallback };
}

/** A text of a certain form. */
export function formed<Value>(form: Form<Value>, fallback: string): SettingKind<Value | undefined> {
  return {
    type: 'text',
    hint: form.hint,
    fallback,
    read(given) {
      const value = lastText(given);
      return value === undefined ? undefined : parsed(given, value, form);
    },
  };
}

/** By repetition, by comma, or as a list in the file. */
export function list<Value>(form: Form<Value>): SettingKind<readonly Value[]> {
  return {
    type: 'list',
    hint: `${form.hint}[,…]`,
    fallback: 'none',
    read(given) {
      const parts = (given?.values ?? []).flatMap((value) => value.split(',')).map((part) => part.trim());
      return parts.filter((part) => part !== '').map((part) => parsed(given, part, form));
    },
  };
}

interface Range<Fallback> {
  readonly min?: number;
  readonly max: number;
  readonly fallback: Fallback;
}

export function whole<Fallback extends number | undefined>(
  { min = 0, max, fallback }: Range<Fallback>,
  shown = String(fallback),
): SettingKind<number | Fallback> {
  return {
    type: 'number',
    hint: 'N',
    fallback: shown,
    read(given) {
      const value = given?.values.at(-1);
      if (value === undefined) return fallback;
      if (/^\d{1,16}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
      throw rejected(given, `takes a whole number from ${min} to ${max}, not "${value}"`);
    },
  };
}

export function choice<const Name extends string, const Fallback extends Name | undefined>(
  names: readonly Name[],
  fallback: Fallback,
  shown: string = fallback ?? 'none',
): SettingKind<Name | Fallback> {
  return {
    type: 'choice',
    hint: names.join('|'),
    fallback: shown,
    read(given) {
      const value = given?.values.at(-1);
      if (value === undefined) return fallback;
      const name = names.find((known) => known === value);
      if (name !== undefined) return name;
      throw rejected(given, `takes one of ${names.join(', ')}, not "${value}"`);
    },
  };
}

function lastText(given: Given | undefined): string | undefined {
  const value = given?.values.at(-1);
  if (value === '') throw rejected(given, 'must not be empty');
  return value;
}

function parsed<Value>(given: Given | undefined, value: string, form: Form<Value>): Value {
  const result = form.parse(value);
  if (result !== undefined) return result;
  throw rejected(given, `takes ${form.takes}${form.isSecret === true ? '' : `, not "${value}"`}`);
}

function rejected(given: Given | undefined, what: string): Error {
  return given === undefined ? new Error(what) : given.error(`${given.from} ${what}.`);
}
