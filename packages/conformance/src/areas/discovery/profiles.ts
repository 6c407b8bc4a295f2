import type { JsonObject } from '@weft/protocol';
import type { RequirementId } from '../requirements.ts';
import { type ProfileId, PROFILES } from '../../requirements/profiles.ts';
import type { Check } from '../../suite/check.ts';

/** Documents by what is special about them. */
type Samples = Readonly<Record<string, JsonObject>>;

interface Derivation {
  readonly row: RequirementId;
  readonly claimed: Samples;
  readonly unclaimed: Samples;
}

const LIMITS = { clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 };
const CORE: JsonObject = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: LIMITS,
};
const INTERRUPTS: JsonObject = { ...CORE, supportedEnvelopes: ['clarification.request'] };

/** Breaks the core of a document that would claim a profile otherwise: no profile is without core. */
function withoutCore(document: JsonObject): JsonObject {
  return { ...document, protocolVersion: '2.0' };
}

const SECRETS: JsonObject = {
  ...CORE,
  secrets: { supported: true, scopes: ['tenant', 'user'], resolution: 'host-managed' },
};
const POLICY: JsonObject = { ...CORE, aiProviders: { policies: { modes: ['optional', 'restricted'] } } };
const REPLAY: JsonObject = { ...CORE, replay: { supported: true, modes: ['branch'] } };
const FIXTURES: JsonObject = { ...CORE, fixtures: ['conformance-noop'] };
const MEMORY: JsonObject = {
  ...CORE,
  memory: { supported: true },
  agents: { memoryBackends: ['long-term'] },
};
const BUNDLE: JsonObject = { ...CORE, debugBundle: { supported: true } };
const BRIDGE: JsonObject = {
  ...CORE,
  triggerBridge: { supported: true },
  deadLetter: { supported: true },
  scheduling: { supported: true },
};
const AUDIT: JsonObject = { ...CORE, auth: { profiles: ['openwop-audit-log-integrity'] } };

const STREAM: Omit<Derivation, 'row'> = {
  claimed: {
    'no supportedTransports': CORE,
    'the transport rest': { ...CORE, supportedTransports: ['grpc', 'rest'] },
  },
  unclaimed: {
    'other transports only': { ...CORE, supportedTransports: ['grpc'] },
    'an empty list of transports': { ...CORE, supportedTransports: [] },
    'transports that are not a list': { ...CORE, supportedTransports: 'rest' },
    'no core': withoutCore(CORE),
  },
};

const DERIVATIONS: Readonly<Record<ProfileId, Derivation>> = {
  'openwop-core': {
    row: 'DISC-43',
    claimed: {
      'the smallest content': CORE,
      'a later minor version': { ...CORE, protocolVersion: '1.12' },
      'limits of 0': { ...CORE, limits: { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0 } },
      'families of a vendor': { ...CORE, 'acme.thing': { supported: true } },
    },
    unclaimed: {
      'another major version': { ...CORE, protocolVersion: '2.0' },
      'a version that only begins with 1': { ...CORE, protocolVersion: '10.0' },
      'a version that is a number': { ...CORE, protocolVersion: 1.1 },
      'envelopes that are not a list': { ...CORE, supportedEnvelopes: {} },
      'no envelopes': without('supportedEnvelopes'),
      'schema versions that are a list': { ...CORE, schemaVersions: [] },
      'no schema versions': without('schemaVersions'),
      'no limits': without('limits'),
      'a limit below 0': { ...CORE, limits: { ...LIMITS, schemaRounds: -1 } },
      'a limit that is not a whole number': { ...CORE, limits: { ...LIMITS, envelopesPerTurn: 1.5 } },
      'a limit that is a text': { ...CORE, limits: { ...LIMITS, clarificationRounds: '3' } },
      'a base limit left out': { ...CORE, limits: { clarificationRounds: 3, schemaRounds: 2 } },
    },
  },
  'openwop-interrupts': {
    row: 'DISC-44',
    claimed: { 'clarification.request': INTERRUPTS },
    unclaimed: {
      'no envelopes at all': CORE,
      'other envelopes only': { ...CORE, supportedEnvelopes: ['error'] },
      'no core': withoutCore(INTERRUPTS),
    },
  },
  'openwop-stream-sse': { row: 'DISC-45', ...STREAM },
  'openwop-stream-poll': { row: 'DISC-46', ...STREAM },
  'openwop-secrets': {
    row: 'DISC-47',
    claimed: { 'secrets of users': SECRETS },
    unclaimed: {
      'secrets of tenants only': { ...CORE, secrets: { supported: true, scopes: ['tenant'] } },
      'secrets that are not supported': { ...CORE, secrets: { supported: false, scopes: ['user'] } },
      'a text in place of a boolean': { ...CORE, secrets: { supported: 'true', scopes: ['user'] } },
      'no core': withoutCore(SECRETS),
    },
  },
  'openwop-provider-policy': {
    row: 'DISC-48',
    claimed: { 'the mode optional': POLICY },
    unclaimed: {
      'no policies': { ...CORE, aiProviders: { supported: ['anthropic'] } },
      'no modes': { ...CORE, aiProviders: { policies: { modes: [] } } },
      'modes without optional': { ...CORE, aiProviders: { policies: { modes: ['restricted'] } } },
      'no core': withoutCore(POLICY),
    },
  },
  'openwop-replay-fork': {
    row: 'DISC-49',
    claimed: { 'one mode': REPLAY },
    unclaimed: {
      'no modes': { ...CORE, replay: { supported: true, modes: [] } },
      'modes that are not a list': { ...CORE, replay: { supported: true, modes: 'replay' } },
      'modes that are not supported': { ...CORE, replay: { supported: false, modes: ['replay'] } },
      'no core': withoutCore(REPLAY),
    },
  },
  'openwop-fixtures': {
    row: 'DISC-50',
    claimed: { 'one fixture': FIXTURES },
    unclaimed: {
      'an empty list': { ...CORE, fixtures: [] },
      'an empty name': { ...CORE, fixtures: ['conformance-noop', ''] },
      'a name that is a number': { ...CORE, fixtures: [1] },
      'a text in place of a list': { ...CORE, fixtures: 'conformance-noop' },
      'no core': withoutCore(FIXTURES),
    },
  },
  'openwop-memory': {
    row: 'DISC-51',
    claimed: {
      'memory that says nothing about writing': MEMORY,
      'memory that can be written': { ...MEMORY, memory: { supported: true, writable: true } },
    },
    unclaimed: {
      'memory that is read-only': { ...MEMORY, memory: { supported: true, writable: false } },
      'another backend': { ...MEMORY, agents: { memoryBackends: ['scratch'] } },
      'no memory': { ...CORE, agents: { memoryBackends: ['long-term'] } },
      'no core': withoutCore(MEMORY),
    },
  },
  'openwop-trigger-bridge': {
    row: 'DISC-60',
    claimed: {
      'triggers, dead letters and schedules': BRIDGE,
      'durable webhooks instead of schedules': { ...BRIDGE, scheduling: {}, webhooks: { durable: true } },
    },
    unclaimed: {
      'no dead letters': { ...BRIDGE, deadLetter: { supported: false } },
      'no bridge': { ...BRIDGE, triggerBridge: { supported: false } },
      'nothing that triggers': { ...BRIDGE, scheduling: { supported: false } },
      'no core': withoutCore(BRIDGE),
    },
  },
  'openwop-debug-bundle': {
    row: 'DISC-52',
    claimed: { 'debugBundle.supported': BUNDLE },
    unclaimed: {
      'a bundle that is not supported': { ...CORE, debugBundle: { supported: false } },
      'no bundle': CORE,
      'no core': withoutCore(BUNDLE),
    },
  },
  'openwop-audit-log-integrity': {
    row: 'DISC-53',
    claimed: { 'the name in auth.profiles': AUDIT },
    unclaimed: {
      'other profiles only': { ...CORE, auth: { profiles: ['openwop-auth-mtls'] } },
      'no auth': CORE,
      'no core': withoutCore(AUDIT),
    },
  },
  'openwop-core-standard': {
    row: 'DISC-54',
    claimed: {
      'clarification.request': INTERRUPTS,
      'clarification.request over rest': { ...INTERRUPTS, supportedTransports: ['rest'] },
    },
    unclaimed: {
      'no interrupts': CORE,
      'no stream': { ...INTERRUPTS, supportedTransports: ['mcp'] },
      'no core': withoutCore(INTERRUPTS),
    },
  },
};

export const PROFILE_CHECKS: readonly Check[] = Object.entries(DERIVATIONS).map(([name, derivation]) => {
  const profile = name as ProfileId;
  const { row, claimed, unclaimed } = derivation;
  return {
    id: `discovery/derives-${profile}`,
    title: `${profile} is derived from discovery documents as the protocol says`,
    proves: [row],
    isOffline: true,
    run: ({ expect }) => {
      const { isClaimed } = PROFILES[profile];
      for (const [what, document] of Object.entries(claimed))
        expect.that(isClaimed(document), `a document with ${what} claims ${profile}`, document);
      for (const [what, document] of Object.entries(unclaimed))
        expect.that(!isClaimed(document), `a document with ${what} does not claim ${profile}`, document);
      return Promise.resolve();
    },
  };
});

function without(member: string): JsonObject {
  return Object.fromEntries(Object.entries(CORE).filter(([name]) => name !== member));
}
