import { isJsonObject, type Json } from '@weft/protocol';
import { credentialMember, redactDeep } from '../redaction/scan/credential-text.ts';
import { MASK } from '../redaction/scan/marks.ts';

/**
 * Credentials by their shape, also where another spelling hides it. Dearer than the check every event goes through when it is
 * written; a bundle leaves the house, so it pays.
 */

/** The value with every string, names of members included, redacted; the same one if nothing changed. */
export function redactCredentialsIn(value: Json): Json {
  if (typeof value === 'string') return redactDeep(value);
  if (Array.isArray(value)) {
    const items = value.map(redactCredentialsIn);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    const isCredential = typeof member === 'string' && credentialMember(key, member) !== undefined;
    const shown: [string, Json] = [redactDeep(key), isCredential ? MASK : redactCredentialsIn(member)];
    if (shown[0] !== key || shown[1] !== member) changed = true;
    return shown;
  });
  return changed ? Object.fromEntries(entries) : value;
}
