import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { isWhole } from '../suite/json-shapes.ts';
import { advertised } from './gates.ts';

/** A profile is never advertised by name: it follows from the discovery document. */
export interface Profile {
  readonly says: string;
  readonly isClaimed: (discovery: JsonObject) => boolean;
}

const BASE_LIMITS = ['clarificationRounds', 'schemaRounds', 'envelopesPerTurn'];

export const PROFILES = {
  'openwop-core': {
    says: 'protocolVersion 1.x, supportedEnvelopes, schemaVersions and the three base limits',
    isClaimed: isCore,
  },
  'openwop-interrupts': {
    says: 'core, and supportedEnvelopes with clarification.request',
    isClaimed: (discovery) =>
      isCore(discovery) && lists(discovery, 'supportedEnvelopes', 'clarification.request'),
  },
  'openwop-stream-sse': {
    says: 'core, and no supportedTransports or one with rest',
    isClaimed: hasRest,
  },
  'openwop-stream-poll': {
    says: 'core, and no supportedTransports or one with rest',
    isClaimed: hasRest,
  },
  'openwop-secrets': {
    says: 'core, secrets.supported, and secrets.scopes with user',
    isClaimed: (discovery) =>
      isCore(discovery) &&
      advertised(discovery, 'secrets.supported') === true &&
      lists(discovery, 'secrets.scopes', 'user'),
  },
  'openwop-provider-policy': {
    says: 'core, and aiProviders.policies.modes with optional',
    isClaimed: (discovery) => isCore(discovery) && lists(discovery, 'aiProviders.policies.modes', 'optional'),
  },
  'openwop-replay-fork': {
    says: 'core, replay.supported, and replay.modes that is not empty',
    isClaimed: (discovery) =>
      isCore(discovery) &&
      advertised(discovery, 'replay.supported') === true &&
      isFilled(advertised(discovery, 'replay.modes')),
  },
  'openwop-fixtures': {
    says: 'core, and fixtures that is a list of names',
    isClaimed: (discovery) => {
      const fixtures = advertised(discovery, 'fixtures');
      return (
        isCore(discovery) &&
        isFilled(fixtures) &&
        fixtures.every((name) => typeof name === 'string' && name !== '')
      );
    },
  },
  'openwop-memory': {
    says: 'core, memory.supported and writable, and agents.memoryBackends with long-term',
    isClaimed: (discovery) =>
      isCore(discovery) &&
      advertised(discovery, 'memory.supported') === true &&
      advertised(discovery, 'memory.writable') !== false &&
      lists(discovery, 'agents.memoryBackends', 'long-term'),
  },
  'openwop-trigger-bridge': {
    says: 'core, triggerBridge.supported, deadLetter.supported, and something that triggers',
    isClaimed: (discovery) =>
      isCore(discovery) &&
      advertised(discovery, 'triggerBridge.supported') === true &&
      advertised(discovery, 'deadLetter.supported') === true &&
      (['queueBus.supported', 'webhooks.durable', 'scheduling.supported'].some(
        (path) => advertised(discovery, path) === true,
      ) ||
        ['email', 'form'].some((source) =>
          lists(discovery, 'triggerBridge.ingestion.externalSources', source),
        )),
  },
  'openwop-debug-bundle': {
    says: 'core, and debugBundle.supported',
    isClaimed: (discovery) => isCore(discovery) && advertised(discovery, 'debugBundle.supported') === true,
  },
  'openwop-audit-log-integrity': {
    says: 'core, and auth.profiles with openwop-audit-log-integrity',
    isClaimed: (discovery) =>
      isCore(discovery) && lists(discovery, 'auth.profiles', 'openwop-audit-log-integrity'),
  },
  'openwop-core-standard': {
    says: 'core, interrupts, and a stream (RFC 0088)',
    isClaimed: (discovery) =>
      hasRest(discovery) && lists(discovery, 'supportedEnvelopes', 'clarification.request'),
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileId = keyof typeof PROFILES;

export function isProfileId(name: string): name is ProfileId {
  return Object.hasOwn(PROFILES, name);
}

function isCore(discovery: JsonObject): boolean {
  const { protocolVersion, supportedEnvelopes, schemaVersions, limits } = discovery;
  return (
    typeof protocolVersion === 'string' &&
    /^1\.\d+/.test(protocolVersion) &&
    Array.isArray(supportedEnvelopes) &&
    isJsonObject(schemaVersions) &&
    isJsonObject(limits) &&
    BASE_LIMITS.every((name) => isWhole(limits[name]))
  );
}

function hasRest(discovery: JsonObject): boolean {
  const transports = discovery['supportedTransports'];
  return isCore(discovery) && (transports === undefined || lists(discovery, 'supportedTransports', 'rest'));
}

function lists(discovery: JsonObject, path: string, member: string): boolean {
  const list = advertised(discovery, path);
  return Array.isArray(list) && list.includes(member);
}

function isFilled(value: Json | undefined): value is Json[] {
  return Array.isArray(value) && value.length > 0;
}
