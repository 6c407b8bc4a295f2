import { createEgress, type Host, type Log } from '@weft/engine';
import { type Telemetry, createTelemetry, startMetricsServer } from '@weft/server';
import { unusable } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { VERSION } from '../version.ts';
import type { OtlpSettings } from './settings/otlp-settings.ts';
import type { ServeSettings } from './settings/settings.ts';

export type RunningTelemetry = Telemetry;

const CONNECT_TIMEOUT_MS = 5_000;

/** Looks on from now on, and opens the port for scrapers if there is to be one. */
export async function startTelemetry(
  host: Host,
  { otlp, metricsBind }: ServeSettings,
  log: Log,
): Promise<RunningTelemetry> {
  const telemetry = createTelemetry({
    host,
    log,
    version: VERSION,
    ...(otlp !== undefined && { otlp: { ...otlp, egress: egressTo(otlp, log) } }),
  });
  if (metricsBind === undefined) return telemetry;
  const server = await startMetricsServer(telemetry, metricsBind).catch(async (cause: unknown) => {
    await telemetry.stop(0);
    const place = `${metricsBind.host}:${metricsBind.port}`;
    throw unusable(
      'cannot_listen',
      `The setting metrics-bind (${place}) cannot be used: ${reasonOf(cause)}.`,
      cause,
    );
  });
  log('info', { url: server.url }, 'metrics are served without a key');
  return {
    metrics: telemetry.metrics,
    async stop(graceMs) {
      await server.close();
      await telemetry.stop(graceMs);
    },
  };
}

/** The host's policy, with one place more: the operator has named the collector. Nodes do not get to it by this. */
function egressTo({ authority }: OtlpSettings, log: Log): ReturnType<typeof createEgress> {
  return createEgress({ allow: [authority], connectTimeoutMs: CONNECT_TIMEOUT_MS, log });
}
