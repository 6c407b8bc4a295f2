import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { coerce, satisfies, validRange } from 'semver';
import type { PackLanguage, PackManifest } from '../manifest/manifest-schema.ts';
import { PackError } from '../pack-error.ts';

/** What a host offers to packs. */
export interface HostOffer {
  /** Version of the protocol. */
  readonly openwop: string;
  readonly languages: readonly PackLanguage[];
  /** The discovery document; absent where no host is asked, and then peer dependencies wait until one is. */
  readonly capabilities?: JsonObject | undefined;
}

/** Throws PackError. */
export function checkRequirements(manifest: PackManifest, offer: HostOffer): void {
  const { name, engines, runtime } = manifest;
  const range = engines['openwop'] ?? '';
  if (!satisfies(offer.openwop, range))
    throw new PackError(
      'invalid_engines_range',
      `${name} needs openwop ${range}; this host speaks ${offer.openwop}.`,
    );
  if (!offer.languages.includes(runtime.language))
    throw new PackError(
      'unsupported_runtime',
      `${name} is written in ${runtime.language}; this host runs packs in ${offer.languages.join(', ')}.`,
    );
  if (offer.capabilities !== undefined) checkPeers(manifest, offer.capabilities);
}

/** A key leads into the discovery document, part by part. */
function checkPeers({ name, peerDependencies = {} }: PackManifest, capabilities: JsonObject): void {
  for (const [key, requirement] of Object.entries(peerDependencies)) {
    const found = capabilityAt(capabilities, key);
    if (!isMet(found, requirement))
      throw new PackError(
        'pack_peer_dependency_missing',
        `${name} needs the capability ${key} (${requirement}), which this host ${isOffered(found) ? 'has in another version' : 'does not offer'}.`,
        { details: { capability: key, requirement } },
      );
  }
}

function capabilityAt(capabilities: JsonObject, key: string): Json | undefined {
  let found: Json | undefined = capabilities;
  for (const part of key.split('.')) {
    if (found === undefined || !isJsonObject(found) || !Object.hasOwn(found, part)) return undefined;
    found = found[part];
  }
  return found;
}

function isOffered(found: Json | undefined): boolean {
  if (found === undefined || found === null || found === false) return false;
  return !isJsonObject(found) || found['supported'] !== false;
}

/** `supported` and `*` ask whether it is there; a range asks for its version; another word for that value, or one of a list. */
function isMet(found: Json | undefined, requirement: string): boolean {
  if (!isOffered(found)) return false;
  if (requirement === 'supported' || requirement === '*') return true;
  const values = Array.isArray(found) ? found : [isJsonObject(found ?? null) ? versionOf(found) : found];
  return values.some((value) => String(value) === requirement || isInRange(value, requirement));
}

function versionOf(found: Json | undefined): Json {
  return (isJsonObject(found ?? null) ? (found as JsonObject)['version'] : undefined) ?? null;
}

function isInRange(value: Json | undefined, requirement: string): boolean {
  if (validRange(requirement) === null || (typeof value !== 'string' && typeof value !== 'number'))
    return false;
  const version = coerce(String(value), { includePrerelease: true });
  return version !== null && satisfies(version, requirement);
}
