export { createApp } from './app.ts';
export type { AppDeps } from './app.ts';
export type { RateLimit, ServerOptions } from './options.ts';
export { startServer } from './start-server.ts';
export type { ListenOptions, RunningServer } from './start-server.ts';
