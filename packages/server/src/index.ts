export { createApp } from './app.ts';
export type { AppDeps } from './app.ts';
export type { RateLimit, ServerOptions } from './options.ts';
export { startServer } from './start-server.ts';
export { startMetricsServer } from './telemetry/metrics-server.ts';
export type { MetricsServer } from './telemetry/metrics-server.ts';
export { createTelemetry } from './telemetry/telemetry.ts';
export type { OtlpOptions, Telemetry, TelemetryOptions } from './telemetry/telemetry.ts';
export type { ListenOptions, RunningServer } from './start-server.ts';
