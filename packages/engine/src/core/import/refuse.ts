import { HostError, nameProblem, shownName } from '@weft/protocol';

/** A bundle that cannot be believed or read. `field` is a JSON Pointer into it; the message never quotes its values. */
export function refuseBundle(field: string, reason: string): HostError {
  return new HostError('bundle_invalid', `The bundle is not imported: ${reason}`, { field });
}

/** The text as a name; throws HostError `bundle_invalid` when it can be none. */
export function nameAt(field: string, text: string): string {
  const problem = nameProblem(text);
  if (problem === undefined) return text;
  throw refuseBundle(field, `${shownName(field)} ${problem}.`);
}
