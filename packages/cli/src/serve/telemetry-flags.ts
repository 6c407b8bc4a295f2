import type { ArgsDef } from 'citty';
import { usageError } from '../exit-code.ts';
import { isLoopbackBind } from './loopback.ts';
import type { SettingKind } from './settings.ts';

/** Where metrics and spans go. Metrics are always on `GET /metrics`, for keys with the scope host:admin. */
export interface TelemetrySettings {
  /** A collector that takes OTLP over HTTP as JSON. */
  readonly otlp: OtlpSettings | undefined;
  /** A second place for `GET /metrics`, without a key. */
  readonly metricsBind: { readonly host: string; readonly port: number } | undefined;
}

export interface OtlpSettings {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `host:port` of the endpoint, as the egress policy names it. */
  readonly authority: string;
  readonly sampleRatio: number;
}

export const TELEMETRY_ARGS = {
  'otlp-endpoint': {
    type: 'string',
    valueHint: 'URL',
    description:
      'Send spans and metrics to this OTLP collector, as JSON over HTTP (or OTEL_EXPORTER_OTLP_ENDPOINT)',
  },
  'metrics-bind': {
    type: 'string',
    valueHint: 'HOST:PORT',
    description: 'Serve GET /metrics without a key on this loopback address too',
  },
} as const satisfies ArgsDef;

export const TELEMETRY_SETTINGS: Readonly<Record<keyof typeof TELEMETRY_ARGS, SettingKind>> = {
  'otlp-endpoint': 'text',
  'metrics-bind': 'text',
};

type Env = Readonly<Record<string, string | undefined>>;

/** Our flags first, then the variables that every OpenTelemetry exporter reads. */
export function telemetrySettings(
  given: (name: keyof typeof TELEMETRY_ARGS) => string | undefined,
  env: Env,
): TelemetrySettings {
  const flag = given('otlp-endpoint');
  const endpoint = flag ?? filled(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const name = flag === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : '--otlp-endpoint';
  return {
    otlp: endpoint === undefined ? undefined : otlpSettings(endpoint, name, env),
    metricsBind: metricsBind(given('metrics-bind')),
  };
}

function otlpSettings(endpoint: string, name: string, env: Env): OtlpSettings {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    throw usageError(
      `${name} must be an http or https URL without a user name, such as http://127.0.0.1:4318.`,
    );
  }
  const protocol = filled(env['OTEL_EXPORTER_OTLP_PROTOCOL']) ?? 'http/json';
  if (protocol !== 'http/json') {
    throw usageError(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: this host sends no other. Leave it out, or set it to that.',
    );
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return {
    endpoint,
    headers: headersOf(filled(env['OTEL_EXPORTER_OTLP_HEADERS']) ?? ''),
    authority: `${url.hostname}:${port}`,
    sampleRatio: ratioOf(filled(env['OTEL_TRACES_SAMPLER_ARG'])),
  };
}

/** `name=value,name=value`, values percent-encoded. Messages do not repeat them: they hold credentials. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const cut = pair.indexOf('=');
      const name = pair.slice(0, Math.max(cut, 0)).trim().toLowerCase();
      if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) throw badHeaders();
      return [name, decoded(pair.slice(cut + 1).trim())];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw badHeaders();
  }
}

function badHeaders(): Error {
  return usageError(
    'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs separated by commas, values percent-encoded.',
  );
}

function ratioOf(text: string | undefined): number {
  if (text === undefined) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw usageError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
}

function metricsBind(text: string | undefined): TelemetrySettings['metricsBind'] {
  if (text === undefined) return undefined;
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const bare = host.replace(/^\[|\]$/g, '');
  if (!isLoopbackBind(bare) || Number(port) > 65_535) {
    throw usageError(
      '--metrics-bind takes a loopback HOST:PORT such as 127.0.0.1:9464; elsewhere use GET /metrics with a key.',
    );
  }
  return { host: bare, port: Number(port) };
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
