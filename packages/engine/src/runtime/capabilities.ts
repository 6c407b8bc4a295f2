import { type Capabilities, mirrorFamilies } from '@weft/protocol';
import type { Store } from '../store.ts';
import type { Compile } from './compile-definition.ts';
import { TEST_PREFIX } from './keys.ts';
import type { HostLimits } from './limits.ts';
import {
  ENGINE_VERSION,
  EVENT_LOG_SCHEMA_VERSION,
  FORCED_ENGINE_VERSIONS,
  PROTOCOL_VERSION,
} from './versions.ts';

/** The discovery document: what works here and nothing else. The same object until something advertised changes. */
export interface Discovery {
  current(): Capabilities;
  /** Looks again at which fixtures of the default tenant can be run. */
  refresh(): Promise<void>;
}

export interface DiscoveryOptions {
  readonly store: Pick<Store, 'listWorkflows' | 'readDefinition'>;
  readonly compile: Compile;
  readonly limits: HostLimits;
  readonly defaultTenant: string;
  readonly version: string;
  readonly test: boolean;
  readonly runtimeCapabilities: readonly string[];
  /** Absent when no node type makes outbound requests. */
  readonly httpClient?: { readonly maxResponseBodyBytes: number; readonly methods: readonly string[] };
}

const FIXTURE_PREFIXES = ['conformance-', 'openwop-smoke-'];
const PAGE = 100;

export function createDiscovery(options: DiscoveryOptions): Discovery {
  let fixtures: readonly string[] = [];
  let document = render(options, fixtures);
  return {
    current: () => document,
    async refresh() {
      const found = await runnableFixtures(options);
      if (found.join('\n') === fixtures.join('\n')) return;
      fixtures = found;
      document = render(options, fixtures);
    },
  };
}

async function runnableFixtures(options: DiscoveryOptions): Promise<readonly string[]> {
  const { store, compile, defaultTenant } = options;
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listWorkflows(defaultTenant, {
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    for (const row of page.rows) {
      if (!row.current || !FIXTURE_PREFIXES.some((prefix) => row.id.startsWith(prefix))) continue;
      const text = await store.readDefinition(row.digest);
      const compiled = text === undefined ? undefined : compile(JSON.parse(text), row.digest);
      if (compiled?.plan !== undefined && compiled.unsupported.length === 0) found.push(row.id);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return [...new Set(found)].sort();
}

function render(options: DiscoveryOptions, fixtures: readonly string[]): Capabilities {
  const { limits, httpClient } = options;
  return mirrorFamilies({
    protocolVersion: PROTOCOL_VERSION,
    supportedEnvelopes: [],
    schemaVersions: {},
    limits: {
      clarificationRounds: 3,
      schemaRounds: 2,
      envelopesPerTurn: 5,
      maxNodeExecutions: limits.maxNodeExecutions,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      ...(limits.maxRunDurationMs >= 1_000 && { maxRunDurationMs: limits.maxRunDurationMs }),
    },
    implementation: { name: 'weft', version: options.version, vendor: 'weft' },
    engineVersion: ENGINE_VERSION,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: ['rest'],
    runs: { pauseResume: { supported: true, drainPolicies: ['immediate', 'drain-current-node'] } },
    restTransport: { conditionalRunGet: true },
    extensions: {
      interrupts: [
        'openwop-interrupt-quorum',
        'openwop-interrupt-external-event',
        'openwop-interrupt-auth-required',
      ],
    },
    configurable: {
      recursionLimit: { type: 'integer', min: 1, max: limits.maxNodeExecutions },
      runTimeoutMs: {
        type: 'integer',
        min: 1,
        ...(limits.maxRunDurationMs > 0 && { max: limits.maxRunDurationMs }),
      },
      'weft.workflowVersion': { type: 'string' },
    },
    runtimeCapabilities: [...options.runtimeCapabilities],
    ...(httpClient !== undefined && {
      httpClient: {
        supported: true,
        ssrfGuard: true,
        maxResponseBodyBytes: httpClient.maxResponseBodyBytes,
        methods: [...httpClient.methods],
      },
    }),
    compliance: { defaultMode: 'mask', supportedClasses: ['public', 'pii', 'phi', 'pci', 'regulated'] },
    idempotency: {
      supported: true,
      layer1RetentionSeconds: Math.floor(limits.idempotencyKeptMs / 1_000),
      crossRegion: 'single-region',
    },
    ...(options.test && {
      testing: {
        testKeyPrefix: TEST_PREFIX,
        forceEngineVersionRange: { ...FORCED_ENGINE_VERSIONS },
        mockProviders: [],
      },
    }),
    fixtures: [...fixtures],
  });
}
