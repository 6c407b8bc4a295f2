import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** What a host can advertise, read from its discovery document. A requirement behind a gate concerns only hosts that open it. */
export interface Gate {
  /** How the advertisement is written, for reports. */
  readonly says: string;
  readonly isOpen: (discovery: JsonObject) => boolean;
}

/**
 * A value by its dotted path. Families stand at the root; older hosts have some of them under `capabilities`, which is looked
 * at second.
 */
export function advertised(discovery: JsonObject, path: string): Json | undefined {
  const names = path.split('.');
  return valueAt(discovery, names) ?? valueAt(discovery['capabilities'], names);
}

function valueAt(from: Json | undefined, names: readonly string[]): Json | undefined {
  let value = from;
  for (const name of names) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

function isTrue(path: string): Gate {
  return { says: `${path}: true`, isOpen: (discovery) => advertised(discovery, path) === true };
}

function isPresent(path: string): Gate {
  return { says: path, isOpen: (discovery) => advertised(discovery, path) !== undefined };
}

function includes(path: string, member: string): Gate {
  return {
    says: `${path} with ${member}`,
    isOpen: (discovery) => {
      const list = advertised(discovery, path);
      return Array.isArray(list) && list.includes(member);
    },
  };
}

/** Every `mcp` block, at the root or one level below it. */
export function mcpSlots(discovery: JsonObject): Json[] {
  const nested = Object.values(discovery).map((block) => (isJsonObject(block) ? block['mcp'] : undefined));
  return [discovery['mcp'], ...nested].filter((slot) => slot !== undefined);
}

/** Blocks that say of themselves that they may still change. */
export function experimentalBlocks(discovery: JsonObject): JsonObject[] {
  const families = isJsonObject(discovery['capabilities']) ? discovery['capabilities'] : {};
  const blocks = [...Object.values(discovery), ...Object.values(families)];
  return blocks.filter((block) => isJsonObject(block) && block['tier'] === 'experimental') as JsonObject[];
}

/** The first key of `configurable` for which a largest number is advertised. */
export function configurableMaximum(discovery: JsonObject): { key: string; max: number } | undefined {
  const keys = advertised(discovery, 'configurable');
  for (const [key, rule] of Object.entries(isJsonObject(keys) ? keys : {}))
    if (isJsonObject(rule) && typeof rule['max'] === 'number') return { key, max: rule['max'] };
  return undefined;
}

/** A larger body is not worth sending only to see it refused. */
const LARGEST_BODY_SENT = 16 * 1_024 * 1_024;

export const GATES = {
  a2a: isPresent('a2a'),
  agents: isTrue('agents.supported'),
  agentReasoning: {
    says: 'agents.reasoning.verbosity other than off',
    isOpen: (discovery) => {
      const verbosity = advertised(discovery, 'agents.reasoning.verbosity');
      return typeof verbosity === 'string' && verbosity !== 'off';
    },
  },
  aiPolicies: isPresent('aiProviders.policies'),
  aiProviders: isPresent('aiProviders'),
  annotations: isTrue('feedback.supported'),
  budget: isTrue('budget.supported'),
  ancestry: isTrue('multiAgent.executionModel.crossHostCausation.ancestryEndpointSupported'),
  auditIntegrity: includes('auth.profiles', 'openwop-audit-log-integrity'),
  authProfiles: isPresent('auth.profiles'),
  authorization: isPresent('authorization'),
  authScopedDiscovery: isTrue('discovery.authScoped.supported'),
  branch: includes('replay.modes', 'branch'),
  compliance: isPresent('compliance.defaultMode'),
  conditionalReads: isTrue('restTransport.conditionalRunGet'),
  configurableMaximum: {
    says: 'configurable with a key that has a max',
    isOpen: (discovery) => configurableMaximum(discovery) !== undefined,
  },
  contentEncodings: {
    says: 'restTransport.contentEncodings that is not empty',
    isOpen: (discovery) => {
      const list = advertised(discovery, 'restTransport.contentEncodings');
      return Array.isArray(list) && list.length > 0;
    },
  },
  conversations: isTrue('conversationPrimitive'),
  crossRegion: isPresent('idempotency.crossRegion'),
  deadLetter: isTrue('deadLetter.supported'),
  debugBundle: isTrue('debugBundle.supported'),
  dispatch: isTrue('agents.dispatch'),
  dispatchMapping: isTrue('agents.dispatchMapping'),
  distinguishesTruncation: isTrue('envelopes.reliability.completion.distinguishesTruncation'),
  envelopes: {
    says: 'supportedEnvelopes that is not empty',
    isOpen: (discovery) => {
      const list = advertised(discovery, 'supportedEnvelopes');
      return Array.isArray(list) && list.length > 0;
    },
  },
  escalationThreshold: isPresent('configurable.escalationThreshold'),
  experimental: {
    says: 'a block with tier: experimental',
    isOpen: (discovery) => experimentalBlocks(discovery).length > 0,
  },
  fanOutPolicies: isPresent('dispatch.fanOutPolicies'),
  fixtures: isPresent('fixtures'),
  fixturesListed: {
    says: 'fixtures that is not empty',
    isOpen: (discovery) => {
      const list = advertised(discovery, 'fixtures');
      return Array.isArray(list) && list.length > 0;
    },
  },
  forcedVersions: isPresent('testing.forceEngineVersionRange'),
  forks: {
    says: 'replay.supported: true and replay.modes that is not empty',
    isOpen: (discovery) => {
      const modes = advertised(discovery, 'replay.modes');
      return advertised(discovery, 'replay.supported') === true && Array.isArray(modes) && modes.length > 0;
    },
  },
  grpc: isTrue('grpc.supported'),
  grpcBlock: isPresent('grpc'),
  i18n: isTrue('i18n.supported'),
  handoffValidation: isTrue('agents.manifestRuntime.handoffValidation'),
  inputMapping: isTrue('subWorkflow.inputMapping'),
  loopLimit: isPresent('limits.maxLoopIterations'),
  maxRequestBody: isPresent('limits.maxRequestBodyBytes'),
  maxRequestBodyTestable: {
    says: 'limits.maxRequestBodyBytes of at most 16 MiB',
    isOpen: (discovery) => {
      const limit = advertised(discovery, 'limits.maxRequestBodyBytes');
      return typeof limit === 'number' && limit <= LARGEST_BODY_SENT;
    },
  },
  mcp: isPresent('mcp'),
  mcpSlot: {
    says: 'an mcp block, at the root or one level below',
    isOpen: (discovery) => mcpSlots(discovery).length > 0,
  },
  memory: includes('agents.memoryBackends', 'long-term'),
  memoryWriteEvents: isTrue('memory.attribution.emitsWriteEvents'),
  mockProviders: isPresent('testing.mockProviders'),
  mockStreamText: includes('testing.mockProviders', 'stream-text'),
  noAnnotations: {
    says: 'no feedback.supported',
    isOpen: (discovery) => advertised(discovery, 'feedback.supported') !== true,
  },
  noConversations: {
    says: 'no conversationPrimitive',
    isOpen: (discovery) => advertised(discovery, 'conversationPrimitive') !== true,
  },
  noDebugBundle: {
    says: 'no debugBundle.supported',
    isOpen: (discovery) => advertised(discovery, 'debugBundle.supported') !== true,
  },
  noEvaluations: {
    says: 'no agents.evalSuite.supported',
    isOpen: (discovery) => advertised(discovery, 'agents.evalSuite.supported') !== true,
  },
  lacksOptionalSurface: {
    says: 'not all of prompts, content and workspace',
    isOpen: (discovery) =>
      ['prompts', 'content', 'workspace'].some((family) => advertised(discovery, family) === undefined),
  },
  observability: isPresent('observability'),
  orchestrator: isTrue('agents.orchestrator'),
  pauseResume: isTrue('runs.pauseResume.supported'),
  promptLibrary: isTrue('prompts.mutableLibrary'),
  prompts: isTrue('prompts.endpointsSupported'),
  providerUsage: isTrue('providerUsage.supported'),
  reasoningVerbosity: isPresent('configurable.reasoningVerbosity'),
  recordedOutcome: {
    says: 'replay.sideEffectSuppression: recorded-outcome',
    isOpen: (discovery) => advertised(discovery, 'replay.sideEffectSuppression') === 'recorded-outcome',
  },
  replay: includes('replay.modes', 'replay'),
  scheduling: isTrue('scheduling.supported'),
  secrets: isTrue('secrets.supported'),
  triggerBridge: isTrue('triggerBridge.supported'),
  triggerRegistration: isTrue('triggerBridge.ingestion.registrationEndpoint'),
  wasm: isTrue('nodePackRuntimes.wasm.supported'),
  webhooks: isTrue('webhooks.supported'),
} as const satisfies Readonly<Record<string, Gate>>;

export type GateId = keyof typeof GATES;
