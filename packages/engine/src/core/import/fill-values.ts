import { HostError, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { NeededSlot } from './missing-values.ts';

/** What a fork of an imported run gets in place of what was masked. */
export interface FilledValues {
  /** By name: values of inputs. */
  readonly inputs: JsonObject;
  /** By sequence, then by JSON Pointer into the payload. */
  readonly events: Readonly<Record<string, JsonObject>>;
}

export interface Needs {
  /** Names of inputs. */
  readonly inputs: readonly string[];
  readonly configurable: readonly string[];
  readonly slots: readonly NeededSlot[];
  /** Names of things no one can give: what a replay would have to take from the record. */
  readonly recorded: readonly string[];
}

const PATH = /^(?:nodes|events|variables)\./;

/** Throws HostError `values_missing` with the names of all that is not given. */
export function fillValues(needs: Needs, values: JsonObject, configurable: JsonObject): FilledValues {
  const used = new Set<string>();
  const missing = new Set<string>();
  const given = (...names: readonly string[]): Json | undefined => {
    const name = names.find((candidate) => Object.hasOwn(values, candidate));
    if (name === undefined) missing.add(names[0] ?? '');
    else used.add(name);
    return name === undefined ? undefined : values[name];
  };

  for (const name of needs.inputs) given(name);
  for (const name of needs.configurable) {
    if (!Object.hasOwn(configurable, name)) missing.add(`configurable.${name}`);
  }
  const events: Record<string, JsonObject> = {};
  for (const { name, seq, slot } of needs.slots) {
    // A variable that was masked twice, as an input and when it was changed, has two values.
    const names = PATH.test(name)
      ? [name]
      : needs.inputs.includes(name)
        ? [`variables.${name}`]
        : [name, `variables.${name}`];
    const value = given(...names);
    if (value === undefined) continue;
    if (slot === '/outputs' && !isJsonObject(value)) throw notAnObject(name);
    events[seq] = { ...events[seq], [slot]: value };
  }
  for (const name of needs.recorded) missing.add(name);
  if (missing.size > 0) throw valuesMissing([...missing], needs.recorded.length > 0);
  const inputs = Object.entries(values).filter(([name]) => !PATH.test(name));
  const orphan = Object.keys(values).find((name) => PATH.test(name) && !used.has(name));
  if (orphan !== undefined) throw notNeeded(orphan);
  return { inputs: Object.fromEntries(inputs), events };
}

const SHOWN_NAMES = 100;

function valuesMissing(names: readonly string[], isReplay: boolean): HostError {
  const shown = names.slice(0, 5).join(', ');
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  const wayOut = isReplay
    ? 'A replay takes them from the record, so fork with mode "branch" and give what that needs.'
    : 'Give them by name in "values" (weft fork --input NAME=VALUE); values of configurable in the options.';
  return new HostError(
    'values_missing',
    `The bundle was masked, so the fork has no value for ${shown}${more}. ${wayOut}`,
    { missing: names.slice(0, SHOWN_NAMES), count: names.length },
  );
}

function notAnObject(name: string): HostError {
  return new HostError('validation_error', `values: "${name}" must be an object of outputs by port.`, {
    field: 'values',
  });
}

function notNeeded(name: string): HostError {
  return new HostError(
    'validation_error',
    `values: "${name.slice(0, 100)}" is not among what was masked and is needed here. Leave it out.`,
    { field: 'values' },
  );
}
