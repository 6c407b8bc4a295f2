import type { Routes } from '../door.ts';
import { PROMETHEUS_TYPE } from '../telemetry/prometheus.ts';

/** Counters of this process in Prometheus text format, for administrators. */
export const metricsRoutes: Routes = (app, door) => {
  app.get('/metrics', door.allow('readMetrics'), async (_request, reply) =>
    reply
      .code(200)
      .header('content-type', PROMETHEUS_TYPE)
      .send(await door.telemetry.metrics()),
  );
};
