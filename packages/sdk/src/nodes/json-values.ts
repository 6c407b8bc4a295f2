import { NodeError } from './node-error.ts';

/** As deep as a host reads JSON; what contains itself is deeper. */
const DEEPEST = 64;

/** The text of what a function has returned. Throws `output_invalid` with the path of what JSON cannot hold. */
export function jsonTextOf(outputs: unknown): string {
  if (!isPlainObject(outputs))
    throw new NodeError(
      'output_invalid',
      `outputs must be an object of values by name, not ${kindOf(outputs)}.`,
    );
  checkMembers(outputs, 'outputs', 1);
  return JSON.stringify(outputs);
}

function check(value: unknown, path: string, depth: number): void {
  // A member that is undefined is one that is left out.
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean')
    return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  const members = Array.isArray(value) ? checkItems : isPlainObject(value) ? checkMembers : undefined;
  if (members === undefined) {
    throw new NodeError(
      'output_invalid',
      `${path} is ${kindOf(value)}, which JSON cannot hold. Return a string, a number, a boolean, null, an array or a plain object.`,
    );
  }
  if (depth > DEEPEST)
    throw new NodeError('output_invalid', `${path} is nested more than ${DEEPEST} deep, or contains itself.`);
  members(value as Readonly<Record<string, unknown>> & readonly unknown[], path, depth);
}

function checkMembers(value: Readonly<Record<string, unknown>>, path: string, depth: number): void {
  for (const name of Object.keys(value)) check(value[name], `${path}.${name}`, depth + 1);
}

function checkItems(items: readonly unknown[], path: string, depth: number): void {
  for (const [index, item] of items.entries()) {
    if (item === undefined)
      throw new NodeError('output_invalid', `${path}[${index}] is undefined; JSON has null for that.`);
    check(item, `${path}[${index}]`, depth + 1);
  }
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const { name } = value.constructor ?? {};
    return typeof name === 'string' && name !== '' ? `a value of ${name}` : 'an object';
  }
  if (typeof value === 'number' || value === undefined || value === null) return String(value);
  return `a ${typeof value}`;
}
