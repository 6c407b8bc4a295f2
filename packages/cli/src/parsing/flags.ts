import { parseArgs } from 'node:util';
import type { ArgsDef } from 'citty';
import { closestName } from './closest-name.ts';
import type { Leaf } from './command.ts';
import { usageError } from '../exit-code.ts';

export interface CheckedFlags {
  /** The arguments as the parser must get them: ids that look like flags stand behind `--`. */
  readonly rawArgs: readonly string[];
  readonly help: boolean;
  readonly json: boolean;
  /** Every value of every flag; "true" for a switch. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/**
 * Looks at the raw arguments before the command does: citty ignores flags it does not know and keeps only the last of
 * several values, so both are handled here.
 */
export function checkFlags(path: string, leaf: Leaf, given: readonly string[]): CheckedFlags {
  const rawArgs = shieldIds(leaf.args, given);
  const { tokens } = parseArgs({
    args: [...rawArgs],
    options: parserOptions(leaf.args),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const arg = known(path, leaf, token.name, token.rawName);
    if (arg.type === 'boolean') {
      refuseValue(token.rawName, token.value);
      values.set(token.name, ['true']);
      continue;
    }
    const value = neededValue(token.rawName, token.value, token.inlineValue === true);
    refuseUnknownOption(token.rawName, arg, value);
    values.set(token.name, [...(values.get(token.name) ?? []), value]);
  }
  const help = values.has('help');
  if (!help) checkPositionals(path, leaf, positionals);
  return { rawArgs, help, json: values.has('json'), values };
}

/** Ids made by the host: 16 random bytes as base64url, so one in 64 begins with a dash. */
const DASHED_ID = /^-[A-Za-z0-9_-]{21}$/;

/** A person pastes an id and must not have to know that it looks like a flag. */
function shieldIds(args: ArgsDef, given: readonly string[]): readonly string[] {
  const takesIds = Object.values(args).some((arg) => arg.type === 'positional');
  if (!takesIds || given.includes('--')) return given;
  const isId = (text: string): boolean =>
    DASHED_ID.test(text) && !Object.hasOwn(args, text.replace(/^--/, ''));
  const ids = given.filter(isId);
  return ids.length === 0 ? given : [...given.filter((text) => !isId(text)), '--', ...ids];
}

function parserOptions(
  args: ArgsDef,
): Record<string, { type: 'boolean' | 'string'; short?: string; multiple: true }> {
  const options: [string, { type: 'boolean' | 'string'; short?: string; multiple: true }][] = [];
  for (const [name, arg] of Object.entries(args)) {
    if (arg.type === 'positional') continue;
    const short = 'alias' in arg && typeof arg.alias === 'string' ? { short: arg.alias } : {};
    options.push([name, { type: arg.type === 'boolean' ? 'boolean' : 'string', multiple: true, ...short }]);
  }
  return Object.fromEntries(options);
}

function known(path: string, { args, moved }: Leaf, name: string, rawName: string): ArgsDef[string] {
  const arg = Object.hasOwn(args, name) ? args[name] : undefined;
  if (arg !== undefined && arg.type !== 'positional') return arg;
  if (moved !== undefined && Object.hasOwn(moved, name)) throw usageError(moved[name] ?? '');
  const flags = Object.keys(args).filter((flag) => args[flag]?.type !== 'positional');
  const near = closestName(name, flags);
  const hint = near === undefined ? `See: ${path} --help` : `Did you mean --${near}?`;
  throw usageError(`Unknown flag ${rawName}. ${hint}`);
}

function refuseValue(rawName: string, value: string | undefined): void {
  if (value !== undefined) throw usageError(`${rawName} takes no value.`);
}

function neededValue(rawName: string, value: string | undefined, isInline: boolean): string {
  if (value === undefined) throw usageError(`${rawName} needs a value.`);
  if (!isInline && value.startsWith('--')) {
    throw usageError(`${rawName} needs a value; if it is "${value}", write ${rawName}=${value}.`);
  }
  return value;
}

function refuseUnknownOption(rawName: string, arg: ArgsDef[string], value: string): void {
  if (arg.type !== 'enum' || arg.options === undefined || arg.options.includes(value)) return;
  throw usageError(`${rawName} takes one of ${arg.options.join(', ')}, not "${value}".`);
}

function checkPositionals(path: string, leaf: Leaf, given: readonly string[]): void {
  const wanted = Object.entries(leaf.args).filter(([, arg]) => arg.type === 'positional');
  const missing = wanted.slice(given.length).find(([, arg]) => arg.required !== false);
  if (missing !== undefined) {
    const example = leaf.examples[0] === undefined ? '' : ` Example: ${leaf.examples[0]}`;
    throw usageError(`${path} needs ${missing[0].toUpperCase()}.${example}`);
  }
  const extra = given[wanted.length];
  if (extra !== undefined && leaf.variadic !== true)
    throw usageError(`${path} does not take "${extra}". See: ${path} --help`);
}
