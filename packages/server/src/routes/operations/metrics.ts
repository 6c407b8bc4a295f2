import type { Routes } from '../../app-context.ts';
import { PROMETHEUS_TYPE } from '../../telemetry/prometheus.ts';

/** Counters of this process in Prometheus text format, for administrators. */
export const metricsRoutes: Routes = (serve, context) => {
  serve('readMetrics', async (_request, reply) =>
    reply
      .code(200)
      .header('content-type', PROMETHEUS_TYPE)
      .send(await context.telemetry.metrics()),
  );
};
