import { isJsonObject, type Json } from '@weft/protocol';
import type { Reads } from '../expressions/expression-reads.ts';

/**
 * What of a value must not be shown: all of it (true), or only some of its members. `within`: all of it, because something
 * sensitive is somewhere inside; the rest is not looked for elsewhere. False: nothing, although it was made from something
 * sensitive, because the author of the workflow says so. It is part of the facts that make a value known, in their private
 * overlay, and so of the fold.
 */
export type Sensitivity = boolean | 'within' | { readonly [member: string]: Sensitivity };

export function isSensitive(of: Sensitivity | undefined): boolean {
  if (typeof of === 'object') return Object.values(of).some(isSensitive);
  return of === true || of === 'within';
}

/** Of a value that was made from something sensitive: of an object or a list, not every part need be. */
export function ofMade(value: Json): Sensitivity {
  return typeof value === 'object' && value !== null ? 'within' : true;
}

/** As an event's overlay holds it. */
export function readSensitivity(recorded: Json | undefined): Sensitivity | undefined {
  const isOne = typeof recorded === 'boolean' || recorded === 'within' || isJsonObject(recorded);
  return isOne ? (recorded as Sensitivity) : undefined;
}

/** The way there: under this name, where there is something to say. */
export function recorded<Name extends string>(
  name: Name,
  of: Sensitivity | undefined,
): { [Member in Name]?: Sensitivity } {
  return of === undefined ? {} : ({ [name]: of } as { [Member in Name]: Sensitivity });
}

export function memberOf(of: Sensitivity | undefined, name: string): Sensitivity | undefined {
  if (typeof of !== 'object') return of;
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

/** Of an object, from its members; undefined when there is nothing to say. */
export function ofMembers(
  entries: Iterable<readonly [string, Sensitivity | undefined]>,
): Sensitivity | undefined {
  const said: [string, Sensitivity][] = [];
  for (const [name, of] of entries) if (of !== undefined) said.push([name, of]);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

/** What a place declares goes before what its value was made from. */
export function asDeclared(
  computed: Sensitivity | undefined,
  declared: boolean | undefined,
): Sensitivity | undefined {
  if (declared === true) return true;
  return declared === false && isSensitive(computed) ? false : computed;
}

/** Whether something sensitive is among what is read of a value. */
export function isRead(of: Sensitivity | undefined, reads: Reads): boolean {
  if (typeof of !== 'object' || reads === true) return isSensitive(of);
  for (const [name, part] of reads) if (isRead(memberOf(of, name), part)) return true;
  return false;
}

/**
 * The texts and numbers of a value that are sensitive, or declared not to be. `visit` returns false when it has seen enough; it is called
 * for values that are only part of something sensitive, too. True, false and null are never looked for.
 */
export function eachLeaf(
  value: Json,
  of: Sensitivity | undefined,
  visit: (text: string, of: boolean | 'within') => boolean,
): boolean {
  if (of === undefined) return true;
  if (typeof of === 'object' && isJsonObject(value)) {
    return Object.entries(value).every(([name, member]) => eachLeaf(member, memberOf(of, name), visit));
  }
  const ofAll = typeof of === 'object' ? isSensitive(of) : of;
  if (typeof value === 'string' || typeof value === 'number') return visit(String(value), ofAll);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every((inner) => eachLeaf(inner, ofAll, visit));
}
