import { usageError } from '../../exit-code.ts';

/** A collector that takes OTLP over HTTP as JSON. The host serves its metrics as well, to keys with the scope host:admin. */
export interface OtlpSettings {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `host:port` of the endpoint, as the egress policy names it. */
  readonly authority: string;
  readonly sampleRatio: number;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The endpoint, with the variables that every OpenTelemetry exporter reads. */
export function otlpSettings(endpoint: string, env: Env): OtlpSettings {
  const protocol = filled(env['OTEL_EXPORTER_OTLP_PROTOCOL']) ?? 'http/json';
  if (protocol !== 'http/json') {
    throw usageError(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: this host sends no other. Leave it out, or set it to that.',
    );
  }
  const url = new URL(endpoint);
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

function filled(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
