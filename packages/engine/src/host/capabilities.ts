import {
  ANNOTATION_TARGETS,
  type Capabilities,
  type JsonObject,
  mirrorFamilies,
  SIGNAL_KINDS,
  GRPC_SERVICE,
} from '@weft/protocol';
import type { WorkflowRegistry } from '../ports/store.ts';
import { type Models, type OfferedModels, POLICY_DENIED, POLICY_MODES } from '../ports/models.ts';
import type { Conformance } from '../ports/conformance.ts';
import type { AuditIntegrity } from '../runtime/audit/audit.ts';
import type { Compile } from '../runtime/workflows/compile-definition.ts';
import { TEST_PREFIX } from '../runtime/auth/keys.ts';
import { horizonOf } from '../runtime/schedules/new-schedule.ts';
import { DEFAULT_RETRY_POLICY } from '../runtime/triggers/owned-triggers.ts';
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
  readonly limits: HostLimits;
  readonly defaultTenant: string;
  readonly version: string;
  /** Absent on a live host. */
  readonly conformance?: Conformance | undefined;
  readonly runtimeCapabilities: readonly string[];
  /** Those that nodes may ask. */
  readonly models: Pick<Models, 'offered'>;
  /** Whether the host has a key to keep secrets with. */
  readonly secrets: boolean;
  /** Absent when the host has no key to sign checkpoints of the audit log with. */
  readonly auditLogIntegrity?: AuditIntegrity | undefined;
  /** Whether spans and metrics go to a collector. */
  readonly exportsTelemetry: boolean;
  readonly mcpServerUrls?: readonly string[] | undefined;
  readonly nodePackRuntimes?: JsonObject | undefined;
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
      const isRunnable = compiled?.plan !== undefined && compiled.unsupported.length === 0;
      found.set(digest, before ?? { id, isRunnable });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

function render(options: DiscoveryOptions, fixtures: readonly string[]): Capabilities {
  const { limits, httpClient } = options;
  const grpc = options.grpc?.();
  return mirrorFamilies({
    protocolVersion: PROTOCOL_VERSION,
    supportedEnvelopes: [],
    schemaVersions: {},
    limits: {
      clarificationRounds: limits.clarificationRounds,
      maxLoopIterations: limits.maxLoopIterations,
      schemaRounds: 2,
      envelopesPerTurn: 5,
      maxNodeExecutions: limits.maxNodeExecutions,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      ...(limits.maxRunDurationMs >= 1_000 && { maxRunDurationMs: limits.maxRunDurationMs }),
    },
    implementation: { ...IMPLEMENTATION, version: options.version },
    engineVersion: ENGINE_VERSION,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: grpc === undefined ? ['rest'] : ['rest', 'grpc'],
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
      ...(options.conformance !== undefined && {
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
      // Only the agents of a test host say what they think.
      ...(options.conformance !== undefined && { reasoning: { verbosity: 'summary', tokenLimit: 512 } }),
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
    ...(options.mcpServerUrls !== undefined && {
      mcp: { supported: true, serverUrls: [...options.mcpServerUrls] },
    }),
    ...(options.nodePackRuntimes !== undefined && { nodePackRuntimes: options.nodePackRuntimes }),
    ...aiProviders(options.models.offered),
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
