import {
  ANNOTATION_TARGETS,
  type Capabilities,
  ENVELOPE_KINDS,
  ENVELOPE_VERSION,
  type JsonObject,
  mirrorFamilies,
  SIGNAL_KINDS,
  GRPC_SERVICE,
  MAX_PROMPT_BYTES,
  pathOf,
  PROMPT_KINDS,
} from '@weft/protocol';
import type { WorkflowRegistry } from '../ports/store.ts';
import { type Models, type OfferedModels, POLICY_DENIED, POLICY_MODES } from '../ports/models.ts';
import type { Peers } from '../ports/peers.ts';
import type { Conformance } from '../ports/conformance.ts';
import type { AuditIntegrity } from '../runtime/audit/audit.ts';
import type { OffersTool } from '../runtime/tools/tool-servers.ts';
import type { Compile, Compiled } from '../runtime/workflows/compile-definition.ts';
import { TEST_PREFIX } from '../runtime/auth/keys.ts';
import { LIBRARY_ID } from '../runtime/prompts/render-prompt.ts';
import { horizonOf } from '../runtime/schedules/new-schedule.ts';
import { DEFAULT_RETRY_POLICY } from '../runtime/triggers/owned-triggers.ts';
import { ROOM_MULTIPLIER } from '../nodes/agents/after-answer.ts';
import { ENVELOPES_PER_TURN, SCHEMA_ROUNDS } from '../nodes/agents/envelopes.ts';
import { REASONING } from '../nodes/agents/reasoning.ts';
import type { HostLimits } from './limits.ts';
import {
  ENGINE_VERSION,
  EVENT_LOG_SCHEMA_VERSION,
  FORCED_ENGINE_VERSIONS,
  PROTOCOL_VERSION,
} from '../model/versions.ts';

/** The discovery document: what works here and nothing else. The same object until something advertised changes. */
export interface Discovery {
  current(): Capabilities;
  /** Looks again at which fixtures of the default tenant can be run. */
  refresh(): Promise<void>;
}

/** Where gRPC is served; the same object as long as nothing has changed. */
export interface GrpcOffer {
  readonly endpoint: string;
  readonly tls: 'required' | 'optional' | 'disabled';
}

export interface DiscoveryOptions {
  readonly store: WorkflowRegistry;
  readonly compile: Compile;
  readonly offersTool: OffersTool;
  readonly limits: HostLimits;
  readonly defaultTenant: string;
  readonly version: string;
  /** Absent on a live host. */
  readonly conformance?: Conformance | undefined;
  readonly runtimeCapabilities: readonly string[];
  /** Those that nodes may ask. */
  readonly models: Pick<Models, 'offered'>;
  /** Agents of other hosts that nodes may call. */
  readonly peers: Pick<Peers, 'names'>;
  /** Whether the host has a key to keep secrets with. */
  readonly secrets: boolean;
  /** Absent when the host has no key to sign checkpoints of the audit log with. */
  readonly auditLogIntegrity?: AuditIntegrity | undefined;
  /** Whether spans and metrics go to a collector. */
  readonly exportsTelemetry: boolean;
  readonly mcpServerUrls?: readonly string[] | undefined;
  readonly agentCardUrl?: string | undefined;
  readonly nodePackRuntimes?: JsonObject | undefined;
  readonly hasPackAgents?: boolean | undefined;
  /** Where gRPC is served, once it is. */
  readonly grpc?: (() => GrpcOffer | undefined) | undefined;
  /** Absent when no node type makes outbound requests. */
  readonly httpClient?: { readonly maxResponseBodyBytes: number; readonly methods: readonly string[] };
}

/** Who we are, in discovery and in what is carried away. */
export const IMPLEMENTATION = { name: 'weft', vendor: 'weft' } as const;

/** The language of all that the host itself says. */
export const LOCALE = 'en';

const FIXTURE_PREFIXES = ['conformance-', 'openwop-smoke-'];
/** What it shows is how a host without conversations refuses; listing it would say that this is one. */
const NOT_LISTED = new Set(['conformance-conversation-capability-negotiation']);
const PAGE = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** What becomes of answers that cannot be used, and the events that tell of it. */
const RELIABILITY = {
  supported: true,
  events: [
    'envelope.retry.attempted',
    'envelope.retry.exhausted',
    'envelope.refusal',
    'envelope.truncated',
    'envelope.recovery.applied',
  ],
  maxRetryAttempts: SCHEMA_ROUNDS + 1,
  completion: { distinguishesTruncation: true, truncationBudgetMultiplier: ROOM_MULTIPLIER },
};
const OBSERVABILITY = {
  namespace: 'openwop',
  spanNames: ['openwop.run', 'openwop.node.<typeId>', 'openwop.interrupt'],
  spanAttributes: [
    'openwop.run_id',
    'openwop.workflow_id',
    'openwop.node_id',
    'openwop.node_type',
    'openwop.node_attempt',
    'openwop.interrupt_kind',
    'openwop.interrupt_id',
    'openwop.cost.tokens.input',
    'openwop.cost.tokens.output',
    'openwop.cost.tokens.total',
    'openwop.cost.usd',
    'openwop.cost.currency',
    'openwop.cost.estimated',
    'openwop.cost.provider',
  ],
  otel: { exportProtocols: ['http/json'] },
};

export function createDiscovery(options: DiscoveryOptions): Discovery {
  let fixtures: readonly string[] = [];
  let offered = options.grpc?.();
  let document = render(options, fixtures);
  let known: Runnable = new Map();
  let pass: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function look(): Promise<void> {
    known = await currentFixtures(options, known);
    const found = [...known.values()].flatMap(({ id, isRunnable }) => (isRunnable ? [id] : [])).sort();
    if (found.join('\n') === fixtures.join('\n')) return;
    fixtures = found;
    document = render(options, fixtures);
  }

  return {
    current() {
      const offer = options.grpc?.();
      if (offer !== offered) {
        offered = offer;
        document = render(options, fixtures);
      }
      return document;
    },
    refresh() {
      // A pass may have missed what is registered while it runs. The one after it serves all who ask until it starts.
      next ??= Promise.resolve(pass?.catch(() => undefined)).then(() => {
        pass = next;
        next = undefined;
        return look();
      });
      return next;
    },
  };
}

/** By digest, which says all that decides whether a definition can be run here. */
type Runnable = ReadonlyMap<string, { readonly id: string; readonly isRunnable: boolean }>;

/** Workflows that discovery may list; no other registration changes what it says. */
export function isFixture(workflowId: string): boolean {
  return !NOT_LISTED.has(workflowId) && FIXTURE_PREFIXES.some((prefix) => workflowId.startsWith(prefix));
}

async function currentFixtures(options: DiscoveryOptions, known: Runnable): Promise<Runnable> {
  const { store, compile, defaultTenant } = options;
  const found = new Map<string, { readonly id: string; readonly isRunnable: boolean }>();
  let cursor: string | undefined;
  do {
    const page = await store.listWorkflows(defaultTenant, {
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    for (const { id, digest, tenant, current } of page.rows) {
      if (!current || !isFixture(id)) continue;
      const before = known.get(digest);
      const text = before === undefined ? await store.readDefinition(digest) : undefined;
      const compiled =
        text === undefined ? undefined : await compile(JSON.parse(text), digest, tenant, 'registered');
      found.set(digest, before ?? { id, isRunnable: await canRun(compiled, options) });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

async function canRun(
  compiled: Compiled | undefined,
  { offersTool, peers }: DiscoveryOptions,
): Promise<boolean> {
  if (compiled?.plan === undefined || compiled.unsupported.length > 0) return false;
  for (const { type, config } of compiled.plan.nodes.values()) {
    if (type.callsPeer === true && peers.names.length === 0) return false;
    const wanted = type.callsTool?.(config);
    if (wanted !== undefined && !(await offersTool(wanted))) return false;
  }
  return true;
}

function render(options: DiscoveryOptions, fixtures: readonly string[]): Capabilities {
  const { limits, httpClient } = options;
  const grpc = options.grpc?.();
  return mirrorFamilies({
    protocolVersion: PROTOCOL_VERSION,
    ...envelopeKinds(options),
    limits: {
      clarificationRounds: limits.clarificationRounds,
      maxLoopIterations: limits.maxLoopIterations,
      schemaRounds: SCHEMA_ROUNDS,
      envelopesPerTurn: ENVELOPES_PER_TURN,
      maxNodeExecutions: limits.maxNodeExecutions,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      ...(limits.maxRunDurationMs >= 1_000 && { maxRunDurationMs: limits.maxRunDurationMs }),
    },
    implementation: { ...IMPLEMENTATION, version: options.version },
    engineVersion: ENGINE_VERSION,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: transportsOf(options),
    ...(grpc !== undefined && { grpc: { supported: true, service: GRPC_SERVICE, ...grpc } }),
    runs: { pauseResume: { supported: true, drainPolicies: ['immediate', 'drain-current-node'] } },
    debugBundle: { supported: true },
    replay: { supported: true, modes: ['replay', 'branch'], sideEffectSuppression: 'recorded-outcome' },
    feedback: { supported: true, targets: [...ANNOTATION_TARGETS], signals: [...SIGNAL_KINDS] },
    restTransport: { conditionalRunGet: true, contentEncodings: ['gzip'] },
    i18n: { supported: true, defaultLocale: LOCALE, supportedLocales: [LOCALE] },
    extensions: {
      interrupts: [
        'openwop-interrupt-quorum',
        'openwop-interrupt-external-event',
        'openwop-interrupt-auth-required',
        'openwop-interrupt-cascade-cancel',
        'openwop-interrupt-parent-child',
      ],
    },
    configurable: {
      recursionLimit: { type: 'integer', min: 1, max: limits.maxNodeExecutions },
      runTimeoutMs: {
        type: 'integer',
        min: 1,
        ...(limits.maxRunDurationMs > 0 && { max: limits.maxRunDurationMs }),
      },
      maxLoopIterations: { type: 'integer', min: 1, max: limits.maxLoopIterations },
      escalationThreshold: { type: 'number', min: 0, max: 1 },
      ...(hasModels(options) && {
        reasoningVerbosity: { type: 'string', enum: ['summary', 'full', 'off'] },
      }),
      'weft.workflowVersion': { type: 'string' },
    },
    agents: {
      supported: true,
      orchestratorPattern: 'delegate',
      orchestrator: true,
      dispatch: true,
      dispatchMapping: true,
      memoryBackends: ['long-term'],
      ...packAgents(options),
      ...(hasModels(options) && { reasoning: REASONING }),
    },
    conversationPrimitive: true,
    orchestrator: { supported: true, workerIdInterpretation: 'either', fanOutSupported: true },
    dispatch: {
      supported: true,
      models: ['child-run'],
      fanOutSupported: true,
      fanOutPolicies: ['sequential', 'reject'],
      askUserRoutings: ['conversation', 'clarification', 'auto'],
    },
    subWorkflow: { inputMapping: true },
    runtimeCapabilities: [...options.runtimeCapabilities],
    ...(httpClient !== undefined && {
      httpClient: {
        supported: true,
        ssrfGuard: true,
        maxResponseBodyBytes: httpClient.maxResponseBodyBytes,
        methods: [...httpClient.methods],
      },
    }),
    ...(options.secrets && {
      secrets: { supported: true, scopes: ['tenant', 'user'], resolution: 'host-managed' },
    }),
    ...mounts(options),
    ...(options.nodePackRuntimes !== undefined && { nodePackRuntimes: options.nodePackRuntimes }),
    ...aiProviders(options.models.offered),
    ...(hasModels(options) && OF_MODELS),
    prompts: PROMPTS,
    ...(options.exportsTelemetry && { observability: OBSERVABILITY }),
    ...(options.auditLogIntegrity !== undefined && {
      auth: {
        profiles: ['openwop-audit-log-integrity'],
        auditLogIntegrity: { ...options.auditLogIntegrity },
      },
    }),
    memory: {
      supported: true,
      maxEntrySizeBytes: limits.maxMemoryEntryBytes,
      ttlSupported: true,
      attribution: { supported: true, emitsWriteEvents: true },
    },
    webhooks: { supported: true, signatureAlgorithms: ['v1'], durable: true },
    scheduling: {
      supported: true,
      cron: true,
      delayed: false,
      calendar: false,
      maxFutureHorizon: horizonOf(limits),
    },
    deadLetter: {
      supported: true,
      retentionDays: Math.max(Math.floor(limits.deadLettersKeptMs / DAY_MS), 1),
    },
    triggerBridge: {
      supported: true,
      subscriptionStates: ['active', 'paused', 'dead-lettered'],
      dedup: true,
      retryPolicy: { ...DEFAULT_RETRY_POLICY },
      sources: ['webhook', 'schedule'],
      ingestion: {
        externalSources: ['webhook'],
        maxBodyBytes: limits.maxDeliveryBytes,
        verification: ['webhook-signature'],
        registrationEndpoint: true,
      },
    },
    compliance: { defaultMode: 'mask', supportedClasses: ['public', 'pii', 'phi', 'pci', 'regulated'] },
    idempotency: {
      supported: true,
      layer1RetentionSeconds: Math.floor(limits.idempotencyKeptMs / 1_000),
      crossRegion: 'single-region',
    },
    ...(options.conformance !== undefined && {
      conformance: { mockAgent: true },
      testing: {
        testKeyPrefix: TEST_PREFIX,
        forceEngineVersionRange: { ...FORCED_ENGINE_VERSIONS },
        mockProviders: [...options.conformance.mockProviders],
      },
    }),
    fixtures: [...fixtures],
  });
}

/** Agents of packs: each tenant has its own, and what they are given and return is held to their schemas. */
const MANIFEST_RUNTIME = { supported: true, handoffValidation: true, installScope: 'tenant' };

/** An agent needs a model; a test host has models that runs may name. */
function packAgents({ hasPackAgents, models, conformance }: DiscoveryOptions): JsonObject {
  const mocked = conformance === undefined ? [] : ['general'];
  const modelClasses = [...(models.offered?.classes ?? mocked)];
  return hasPackAgents === true && modelClasses.length > 0
    ? { modelClasses, manifestRuntime: MANIFEST_RUNTIME }
    : {};
}

const OF_MODELS = {
  envelopes: { reliability: RELIABILITY },
  providerUsage: { supported: true },
  budget: {
    supported: true,
    dimensions: ['tokens', 'cost', 'toolCalls'],
    enforce: 'hard',
    scopes: ['run'],
  },
};

/** Only a model sends envelopes, and uses what is counted; a test host has models that runs may name. */
function hasModels({ models, conformance }: DiscoveryOptions): boolean {
  return models.offered !== undefined || conformance !== undefined;
}

function envelopeKinds(
  options: DiscoveryOptions,
): Pick<Capabilities, 'supportedEnvelopes' | 'schemaVersions'> {
  const kinds = hasModels(options) ? ENVELOPE_KINDS : [];
  return {
    supportedEnvelopes: [...kinds],
    schemaVersions: Object.fromEntries(kinds.map((kind) => [kind, ENVELOPE_VERSION])),
  };
}

/** Of the block `prompts`: nothing that is not done. */
const PROMPTS: JsonObject = {
  supported: true,
  endpointsSupported: true,
  mutableLibrary: true,
  templateKinds: [...PROMPT_KINDS],
  variableSources: ['input'],
  maxTemplateBytes: MAX_PROMPT_BYTES,
  observability: 'hashed',
  library: { id: LIBRARY_ID, renderEndpoint: pathOf('renderPrompt'), maxRenderRequestBytes: 262_144 },
};

function transportsOf({ grpc, agentCardUrl }: DiscoveryOptions): ('rest' | 'grpc' | 'a2a')[] {
  return [
    'rest',
    ...(grpc?.() === undefined ? [] : ['grpc' as const]),
    ...(agentCardUrl === undefined ? [] : ['a2a' as const]),
  ];
}

/** Where workflows are offered to assistants, and to agents of other hosts. */
function mounts({ mcpServerUrls, agentCardUrl }: DiscoveryOptions): Partial<Capabilities> {
  return {
    ...(mcpServerUrls !== undefined && { mcp: { supported: true, serverUrls: [...mcpServerUrls] } }),
    ...(agentCardUrl !== undefined && {
      a2a: { supported: true, agentCardUrl, streaming: true, pushNotifications: false },
    }),
  };
}

function aiProviders(offered: OfferedModels | undefined): Pick<Capabilities, 'aiProviders'> {
  if (offered === undefined) return {};
  const namesOf = (providers: OfferedModels['providers']): string[] => providers.map(({ name }) => name);
  return {
    aiProviders: {
      supported: namesOf(offered.providers),
      byok: namesOf(offered.providers.filter(({ takesCredentials }) => takesCredentials)),
      policies: { modes: [...POLICY_MODES], errorCode: POLICY_DENIED },
    },
  };
}
