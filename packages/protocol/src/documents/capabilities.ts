import { type Static, Type } from 'typebox';
import { anyJson, closed, count, jsonObject, mapOf, nonEmpty, open, positive } from './schema-parts.ts';
import { AuditIntegritySchema } from './audit.ts';
import type { Json } from '../json/json.ts';

/**
 * The discovery document. Families stand at the root, which is open; `limits` and a few blocks are closed, because
 * the protocol closes them. A block that is absent means "not offered".
 */

const optional = Type.Optional;
const flag = Type.Boolean();
const names = Type.Array(nonEmpty);

export const LimitsSchema = closed({
  clarificationRounds: count,
  schemaRounds: count,
  envelopesPerTurn: count,
  maxNodeExecutions: optional(positive),
  maxRunDurationMs: optional(Type.Integer({ minimum: 1000 })),
  maxLoopIterations: optional(positive),
  maxBudgetTokens: optional(positive),
  maxBudgetCostUsd: optional(Type.Number({ minimum: 0 })),
  maxRequestBodyBytes: optional(positive),
});

export const GrpcSchema = closed({
  supported: flag,
  service: Type.Literal('openwop.v1.Engine'),
  tls: Type.Enum(['required', 'optional', 'disabled']),
  endpoint: optional(Type.String({ pattern: '^grpcs?://' })),
});

const HttpClientSchema = closed({
  supported: flag,
  ssrfGuard: optional(flag),
  maxResponseBodyBytes: optional(positive),
  requestTimeoutMs: optional(count),
  methods: optional(Type.Array(Type.String())),
  safeFetch: optional(open({ supported: flag })),
  egressPolicy: optional(
    open({
      supported: flag,
      decisions: optional(Type.Array(Type.Enum(['allowed', 'denied', 'downgraded', 'approval-required']))),
    }),
  ),
});

export const CapabilitiesSchema = open({
  protocolVersion: Type.String({ pattern: '^\\d+\\.\\d+$' }),
  supportedEnvelopes: Type.Array(Type.String()),
  schemaVersions: mapOf<number>(count),
  limits: LimitsSchema,
  implementation: optional(
    closed({ name: Type.String(), version: Type.String(), vendor: optional(Type.String()) }),
  ),
  protocolVersions: optional(Type.Array(Type.String({ pattern: '^\\d+\\.\\d+$' }))),
  engineVersion: optional(count),
  eventLogSchemaVersion: optional(count),
  minClientVersion: optional(Type.String()),
  supportedTransports: optional(Type.Array(Type.Enum(['rest', 'mcp', 'a2a', 'grpc']))),
  grpc: optional(GrpcSchema),
  configurable: optional(
    mapOf<{ type?: string; min?: number; max?: number; [key: string]: Json | undefined }>(
      open({
        type: optional(Type.String()),
        min: optional(Type.Number()),
        max: optional(Type.Number()),
      }),
    ),
  ),
  observability: optional(open({ namespace: optional(Type.String()) })),
  runtimeCapabilities: optional(Type.Array(nonEmpty, { uniqueItems: true })),
  secrets: optional(
    closed({
      supported: flag,
      scopes: optional(Type.Array(Type.Enum(['tenant', 'user', 'run']))),
      resolution: optional(Type.Literal('host-managed')),
    }),
  ),
  testing: optional(
    open({
      mockProviders: optional(Type.Array(Type.String())),
      testKeyPrefix: optional(Type.String({ maxLength: 32 })),
      forceEngineVersionRange: optional(open({ min: count, max: count })),
    }),
  ),
  fixtures: optional(Type.Array(Type.String())),
  compliance: optional(
    open({
      defaultMode: optional(Type.Enum(['mask', 'omit', 'hash', 'passthrough'])),
      supportedClasses: optional(Type.Array(Type.Enum(['public', 'pii', 'phi', 'pci', 'regulated']))),
    }),
  ),
  replay: optional(
    open({
      supported: optional(flag),
      modes: optional(Type.Array(Type.Enum(['replay', 'branch']))),
      fork: optional(flag),
      sideEffectSuppression: optional(Type.Enum(['none', 'recorded-outcome'])),
    }),
  ),
  debugBundle: optional(open({ supported: flag })),
  runs: optional(
    open({
      pauseResume: optional(
        open({
          supported: flag,
          drainPolicies: optional(Type.Array(Type.Enum(['immediate', 'drain-current-node']))),
        }),
      ),
    }),
  ),
  idempotency: optional(
    open({
      supported: optional(flag),
      layer1RetentionSeconds: optional(count),
      layer2RetentionSeconds: optional(count),
      crossRegion: optional(Type.Literal('single-region')),
    }),
  ),
  webhooks: optional(
    open({
      supported: optional(flag),
      signatureAlgorithms: optional(Type.Array(Type.String())),
      durable: optional(flag),
    }),
  ),
  scheduling: optional(
    closed({
      supported: flag,
      cron: optional(flag),
      delayed: optional(flag),
      calendar: optional(flag),
      maxFutureHorizon: optional(Type.String()),
    }),
  ),
  deadLetter: optional(closed({ supported: flag, retentionDays: optional(Type.Integer({ minimum: 1 })) })),
  triggerBridge: optional(
    closed({
      supported: flag,
      subscriptionStates: optional(names),
      dedup: optional(flag),
      retryPolicy: optional(closed({ maxAttempts: optional(count), backoff: optional(Type.String()) })),
      sources: optional(names),
      ingestion: optional(
        closed({
          externalSources: optional(names),
          maxBodyBytes: optional(count),
          verification: optional(names),
          registrationEndpoint: optional(flag),
        }),
      ),
    }),
  ),
  auth: optional(open({ profiles: optional(names), auditLogIntegrity: optional(AuditIntegritySchema) })),
  restTransport: optional(
    closed({
      conditionalRunGet: optional(flag),
      contentEncodings: optional(Type.Array(Type.Enum(['gzip', 'br', 'zstd']))),
    }),
  ),
  i18n: optional(
    closed({ supported: flag, defaultLocale: optional(Type.String()), supportedLocales: optional(names) }),
  ),
  httpClient: optional(HttpClientSchema),
  aiProviders: optional(jsonObject),
  prompts: optional(jsonObject),
  interrupt: optional(jsonObject),
  conversationPrimitive: optional(flag),
  agents: optional(jsonObject),
  orchestrator: optional(
    open({
      supported: flag,
      workerIdInterpretation: optional(Type.Enum(['node', 'agent', 'either'])),
      fanOutSupported: optional(flag),
    }),
  ),
  dispatch: optional(
    open({
      supported: flag,
      models: optional(names),
      fanOutSupported: optional(flag),
      fanOutPolicies: optional(names),
      askUserRoutings: optional(names),
    }),
  ),
  subWorkflow: optional(closed({ inputMapping: optional(flag) })),
  feedback: optional(jsonObject),
  production: optional(jsonObject),
  extensions: optional(jsonObject),
  capabilities: optional(mapOf<Json>(anyJson, 'Deprecated mirror of the families at the root.')),
});

export type Capabilities = Static<typeof CapabilitiesSchema> & { readonly [family: string]: unknown };
export type CapabilityLimits = Static<typeof LimitsSchema>;

/** Members that describe the document itself and so are no family. */
const NOT_FAMILIES = new Set([
  'protocolVersion',
  'protocolVersions',
  'implementation',
  'engineVersion',
  'eventLogSchemaVersion',
  'minClientVersion',
  'supportedEnvelopes',
  'schemaVersions',
  'capabilities',
]);

/** Adds the deprecated `capabilities` mirror: readers of the first release look for the families there. */
export function mirrorFamilies(root: Capabilities): Capabilities {
  const families = Object.entries(root).filter(([name]) => !NOT_FAMILIES.has(name));
  return { ...root, capabilities: Object.fromEntries(families) as Record<string, Json> };
}
