import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { coerce, satisfies, validRange } from 'semver';
import type { AgentManifest } from '../manifest/agent-schema.ts';
import { toolScope } from '../manifest/check-agents.ts';
import type { PackLanguage, PackManifest } from '../manifest/manifest-schema.ts';
import { PackError } from '../pack-error.ts';

/** What a host offers to packs. */
export interface HostOffer {
  /** Version of the protocol. */
  readonly openwop: string;
  readonly languages: readonly PackLanguage[];
  /** Whose tools agents may be given, by the first part of their names. */
  readonly toolScopes: readonly string[];
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
  // A pack of agents alone has no code.
  if (manifest.nodes.length > 0 && !offer.languages.includes(runtime.language))
    throw new PackError(
      'unsupported_runtime',
      `${name} is written in ${runtime.language}; this host runs packs in ${offer.languages.join(', ')}.`,
    );
  for (const agent of manifest.agents ?? []) checkAgent(agent, offer);
  if (offer.capabilities !== undefined) checkPeers(manifest, offer.capabilities);
}

function checkAgent(
  { agentId, modelClass, toolAllowlist = [] }: AgentManifest,
  { toolScopes, capabilities }: HostOffer,
): void {
  const foreign = toolAllowlist.find((tool) => !toolScopes.includes(toolScope(tool) ?? ''));
  if (foreign !== undefined)
    throw new PackError(
      'unsupported_capability',
      `${agentId} may call ${JSON.stringify(foreign)}; this host has tools of ${toolScopes.join(', ')} alone.`,
      { details: { requiredCapability: `tools.${toolScope(foreign) ?? ''}` } },
    );
  if (capabilities === undefined) return;
  const classes = capabilityAt(capabilities, 'agents.modelClasses');
  if (Array.isArray(classes) && classes.includes(modelClass)) return;
  throw new PackError(
    'unsupported_model_class',
    `${agentId} asks for a model of the class ${modelClass}, which this host does not have. An operator sets "models.classes" or "models.default" in the config file.`,
    { details: { modelClass } },
  );
}

/** Capabilities that a pack can do without, and has to do without here. */
export function unmetOptional(manifest: PackManifest, capabilities: JsonObject): string[] {
  return Object.entries(manifest.peerDependencies ?? {})
    .filter(
      ([key, requirement]) =>
        isOptional(manifest, key) && !isMet(capabilityAt(capabilities, key), requirement),
    )
    .map(([key]) => key);
}

function isOptional({ peerDependenciesMeta = {} }: PackManifest, key: string): boolean {
  return peerDependenciesMeta[key]?.optional === true;
}

/** A key leads into the discovery document, part by part. */
function checkPeers(manifest: PackManifest, capabilities: JsonObject): void {
  const { name, peerDependencies = {} } = manifest;
  for (const [key, requirement] of Object.entries(peerDependencies)) {
    const found = capabilityAt(capabilities, key);
    if (!isOptional(manifest, key) && !isMet(found, requirement))
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
