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

export const GATES = {
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
  ancestry: isTrue('multiAgent.executionModel.crossHostCausation.ancestryEndpointSupported'),
  auditIntegrity: includes('auth.profiles', 'openwop-audit-log-integrity'),
  branch: includes('replay.modes', 'branch'),
  conditionalReads: isTrue('restTransport.conditionalRunGet'),
  conversations: isTrue('conversationPrimitive'),
  crossRegion: isPresent('idempotency.crossRegion'),
  debugBundle: isTrue('debugBundle.supported'),
  dispatch: isTrue('agents.dispatch'),
  dispatchMapping: isTrue('agents.dispatchMapping'),
  envelopes: {
    says: 'supportedEnvelopes that is not empty',
    isOpen: (discovery) => {
      const list = advertised(discovery, 'supportedEnvelopes');
      return Array.isArray(list) && list.length > 0;
    },
  },
  fixtures: {
    says: 'fixtures that is not empty',
    isOpen: (discovery) => {
      const list = advertised(discovery, 'fixtures');
      return Array.isArray(list) && list.length > 0;
    },
  },
  forcedVersions: isPresent('testing.forceEngineVersionRange'),
  grpc: isTrue('grpc.supported'),
  i18n: isTrue('i18n.supported'),
  inputMapping: isTrue('subWorkflow.inputMapping'),
  loopLimit: isPresent('limits.maxLoopIterations'),
  maxRequestBody: isPresent('limits.maxRequestBodyBytes'),
  mcp: isPresent('mcp'),
  memory: includes('agents.memoryBackends', 'long-term'),
  mockProviders: isPresent('testing.mockProviders'),
  noConversations: {
    says: 'no conversationPrimitive',
    isOpen: (discovery) => advertised(discovery, 'conversationPrimitive') !== true,
  },
  noDebugBundle: {
    says: 'no debugBundle.supported',
    isOpen: (discovery) => advertised(discovery, 'debugBundle.supported') !== true,
  },
  observability: isPresent('observability'),
  orchestrator: isTrue('agents.orchestrator'),
  pauseResume: isTrue('runs.pauseResume.supported'),
  replay: includes('replay.modes', 'replay'),
  secrets: isTrue('secrets.supported'),
  wasm: isTrue('nodePackRuntimes.wasm.supported'),
  webhooks: isTrue('webhooks.supported'),
} as const satisfies Readonly<Record<string, Gate>>;

export type GateId = keyof typeof GATES;
