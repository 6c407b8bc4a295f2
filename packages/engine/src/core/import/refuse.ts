import { HostError } from '@weft/protocol';

/** A bundle that cannot be believed or read. `field` is a JSON Pointer into it; the message never quotes its values. */
export function refuseBundle(field: string, reason: string): HostError {
  return new HostError('bundle_invalid', `The bundle is not imported: ${reason}`, { field });
}
