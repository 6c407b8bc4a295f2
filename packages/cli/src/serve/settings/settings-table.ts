import { LIMITS } from '@weft/engine/limits';
import { pathOf } from '@weft/protocol/plain';
import { DEFAULT_DATA } from '../../connecting/data-folder.ts';
import * as form from './setting-forms.ts';
import { choice, formed, list, type SettingKind, SWITCH, text, whole } from './setting-kinds.ts';

/** One setting of a host. Parsing, help, variables, the config file and the reference page are made from its line below. */
export interface Setting<Value = unknown> {
  readonly group: string;
  /** Where it may be given; the first that has it wins. */
  readonly sources: readonly ('flag' | 'variable' | 'file')[];
  /** A variable of others that is read when it is given nowhere else. */
  readonly otherVariable?: string;
  readonly kind: SettingKind<Value>;
  readonly description: string;
}

const FLAG = ['flag', 'variable', 'file'] as const;
/** What is tuned rarely is no flag. */
const FILE_ONLY = ['variable', 'file'] as const;

export const SETTINGS = {
  port: {
    group: 'Network',
    sources: FLAG,
    kind: whole({ max: 65_535, fallback: 7878 }),
    description: 'Port; 0 takes a free one',
  },
  grpcPort: {
    group: 'Network',
    sources: FLAG,
    kind: whole({ max: 65_535, fallback: undefined }, 'gRPC is not served'),
    description: 'Port for gRPC, on loopback only; 0 takes a free one',
  },
  host: {
    group: 'Network',
    sources: FLAG,
    kind: text('ADDRESS', '127.0.0.1'),
    description: 'Address to bind; any other than loopback needs WEFT_API_KEY',
  },
  publicUrl: {
    group: 'Network',
    sources: FLAG,
    kind: formed(form.WEB_URL, 'the address that was reached'),
    description: 'Base of the URLs in responses, behind a proxy',
  },
  allowedHosts: {
    group: 'Network',
    sources: FLAG,
    kind: list(form.ALLOWED_HOST),
    description:
      'Host headers that may appear in URLs of responses, and under which the web page is served; with https:// behind TLS',
  },
  trustedProxies: {
    group: 'Network',
    sources: FILE_ONLY,
    kind: list(form.ADDRESS_RANGE),
    description: 'Proxies whose X-Forwarded-For is trusted',
  },
  rateLimit: {
    group: 'Network',
    sources: FILE_ONLY,
    kind: whole({ max: 1_000_000, fallback: undefined }, 'off on loopback, else 200'),
    description: 'Requests per second and key; 0 = off',
  },
  noStudio: {
    group: 'Web page',
    sources: FILE_ONLY,
    kind: SWITCH,
    description: 'Do not serve the web page, and print no sign-in link',
  },
  studioDir: {
    group: 'Web page',
    sources: FILE_ONLY,
    kind: text('DIR', undefined),
    description:
      'Serve the web page that was built into this folder, in place of the one that comes with weft',
  },
  data: { group: 'Storage', sources: FLAG, kind: text('DIR', DEFAULT_DATA), description: 'Data folder' },
  store: {
    group: 'Storage',
    sources: FLAG,
    kind: formed(form.POSTGRES_URL, 'SQLite in the data folder'),
    description: 'postgres://… to share with other processes; it may hold a password: prefer WEFT_STORE',
  },
  storeSchema: {
    group: 'Storage',
    sources: FLAG,
    kind: text('NAME', 'weft'),
    description: 'Schema of the PostgreSQL database',
  },
  storeConnections: {
    group: 'Storage',
    sources: FILE_ONLY,
    kind: whole({ min: 2, max: 1_000, fallback: 10 }),
    description: 'Connections to the PostgreSQL database; one more listens',
  },
  storeWaitMs: {
    group: 'Storage',
    sources: FILE_ONLY,
    kind: whole({ max: 600_000, fallback: 30_000 }),
    description: 'Milliseconds to wait at the start for a database that is not available',
  },
  acceptDataLoss: {
    group: 'Storage',
    sources: ['flag'],
    kind: SWITCH,
    description: 'Start although acknowledged writes are missing, and continue without them; this start only',
  },
  workflows: {
    group: 'Workflows',
    sources: FLAG,
    kind: list(form.FOLDER),
    description: 'Register every *.json in these folders',
  },
  nodes: {
    group: 'Your own code',
    sources: FLAG,
    kind: list(form.FOLDER),
    description: 'Serve every node type that the files of these folders define, in processes of their own',
  },
  packs: {
    group: 'Your own code',
    sources: FLAG,
    kind: text('DIR', undefined),
    description: 'Serve the node types of the packs that are installed in this folder (weft pack install)',
  },
  registry: {
    group: 'Your own code',
    sources: FLAG,
    kind: SWITCH,
    description: 'Be a registry that packs are published to and installed from',
  },
  nodesConcurrency: {
    group: 'Your own code',
    sources: FILE_ONLY,
    kind: whole({ min: 1, max: 1_000, fallback: 64 }),
    description: 'Tasks at the same time in each process with node types',
  },
  nodesHeapMb: {
    group: 'Your own code',
    sources: FILE_ONLY,
    kind: whole({ min: 32, max: 65_536, fallback: 512 }),
    description:
      'Heap of each process with node types, in MiB; one that needs more is ended and started again',
  },
  nodesStuckMs: {
    group: 'Your own code',
    sources: FILE_ONLY,
    kind: whole({ min: 500, max: 600_000, fallback: 5_000 }),
    description:
      'Milliseconds for which a function may keep its process from doing anything else, before the process is ended',
  },
  dev: {
    group: 'Workflows',
    sources: FLAG,
    kind: SWITCH,
    description:
      'Register a changed file without a new version as VERSION+HASH; watch the files of --nodes, and serve them again when they change',
  },
  strict: {
    group: 'Workflows',
    sources: FLAG,
    kind: SWITCH,
    description: 'Treat warnings about definitions as errors',
  },
  conformance: {
    group: 'Workflows',
    sources: FLAG,
    kind: SWITCH,
    description:
      'Mark this data folder or database as a test host (permanent): test keys, node types, fixtures',
  },
  allowEgress: {
    group: 'Security',
    sources: FLAG,
    kind: list(form.EGRESS_PAIR),
    description: 'Let nodes call these although they are not public',
  },
  auditAnchor: {
    group: 'Security',
    sources: FLAG,
    kind: text('FILE', undefined),
    description: 'Keep the last seal of the audit log in this file; do not start on a log that lacks it',
  },
  auditRuns: {
    group: 'Security',
    sources: FILE_ONLY,
    kind: SWITCH,
    description: 'Record in the audit log who created each run',
  },
  logLevel: {
    group: 'Logs and telemetry',
    sources: FLAG,
    kind: choice(['debug', 'info', 'warn', 'error'], 'info'),
    description: 'What to log',
  },
  logFormat: {
    group: 'Logs and telemetry',
    sources: FLAG,
    kind: choice(['json', 'text'], undefined, 'text on a terminal, else json'),
    description: 'JSON lines, or lines for people',
  },
  accessLog: {
    group: 'Logs and telemetry',
    sources: FILE_ONLY,
    kind: SWITCH,
    description: 'One log line per request',
  },
  otlpEndpoint: {
    group: 'Logs and telemetry',
    sources: FLAG,
    otherVariable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: formed(form.OTLP_ENDPOINT, 'none'),
    description: 'Send spans and metrics to this OTLP collector, as JSON over HTTP',
  },
  metricsBind: {
    group: 'Logs and telemetry',
    sources: FILE_ONLY,
    kind: formed(form.LOOPBACK_BIND, 'none'),
    description: `Serve GET ${pathOf('readMetrics')} without a key on this loopback address too`,
  },
  config: {
    group: 'Config file',
    sources: ['flag', 'variable'],
    kind: text('FILE', undefined),
    description: 'JSON file with settings; flags win over WEFT_* variables, these win over the file',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** Its error tells people to raise it. */
const LIMIT_FLAG = 'maxNodeExecutions';

export const LIMIT_SETTINGS: readonly (readonly [string, Setting<number | undefined>])[] = Object.entries(
  LIMITS,
).flatMap(([group, limits]) =>
  Object.entries(limits).map(([limit, [fallback, description]]) => {
    const sources = limit === LIMIT_FLAG ? FLAG : FILE_ONLY;
    const kind = whole({ max: Number.MAX_SAFE_INTEGER, fallback: undefined }, String(fallback));
    return [limit, { group: `Limits: ${group}`, sources, kind, description }] as const;
  }),
);

export interface NamedSetting extends Setting {
  /** As flags and the config file have it. */
  readonly name: string;
  readonly variable: string;
}

export const ALL_SETTINGS: readonly NamedSetting[] = [...Object.entries(SETTINGS), ...LIMIT_SETTINGS].map(
  ([key, setting]) => ({ ...setting, name: nameOf(key), variable: variableOf(key) }),
);

export function nameOf(key: string): string {
  if (key === 'maxRequestBodyBytes') return 'max-body-bytes';
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function variableOf(key: string): string {
  return `WEFT_${nameOf(key).toUpperCase().replaceAll('-', '_')}`;
}
