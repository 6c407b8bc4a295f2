import { BYTE_FUNCTIONS, CONVERSIONS, SIZE_FUNCTIONS, TYPE_FUNCTIONS } from './conversions.ts';
import type { FunctionRow } from './function-row.ts';
import { STRING_FUNCTIONS } from './strings.ts';
import { TIME_FUNCTIONS } from './time.ts';
import type { Kind } from './values.ts';

/** Every function that an expression may call. One without a row here does not exist, whatever the type checker says. */
export const FUNCTIONS: readonly FunctionRow[] = [
  ...TYPE_FUNCTIONS,
  ...SIZE_FUNCTIONS,
  ...CONVERSIONS,
  ...STRING_FUNCTIONS,
  ...BYTE_FUNCTIONS,
  ...TIME_FUNCTIONS,
];

/** A row ready to be chosen by what it is called with. */
export interface Overload extends FunctionRow {
  /** The receiver first, where it has one. `dyn` takes anything. */
  readonly kinds: readonly (Kind | 'dyn')[];
}

const SIGNATURE = /^(?:([\w.<>, ]+)\.)?(\w+)\((.*)\): /;

/** By how a call is written: whether it has a receiver, its name, its number of operands. */
const OVERLOADS = groupOverloads();

function groupOverloads(): ReadonlyMap<string, readonly Overload[]> {
  const groups = new Map<string, Overload[]>();
  for (const row of FUNCTIONS) {
    const [, receiver, name = '', list = ''] = SIGNATURE.exec(row.signature) ?? [];
    const params = list === '' ? [] : list.split(/, (?![^<]*>)/);
    const key = callKey(receiver !== undefined, name, params.length);
    const kinds = [...(receiver === undefined ? [] : [receiver]), ...params].map(kindNamed);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ ...row, kinds }]);
    else group.push({ ...row, kinds });
  }
  return groups;
}

function kindNamed(type: string): Kind | 'dyn' {
  return type.replace(/<.*/, '') as Kind | 'dyn';
}

function callKey(hasReceiver: boolean, name: string, params: number): string {
  return `${hasReceiver ? '.' : ''}${name}/${params}`;
}

/** Undefined when there is no such function. */
export function overloadsOf(
  hasReceiver: boolean,
  name: string,
  params: number,
): readonly Overload[] | undefined {
  return OVERLOADS.get(callKey(hasReceiver, name, params));
}
