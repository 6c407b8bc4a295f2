/**
 * What a client needs of the protocol, without the schemas: those and their validators are some 500 files, and a command line
 * that only asks a host something is there before they are read.
 */
export { DIFF_EXCLUDED_NAMES } from './diff-excluded-names.ts';
export { HostError, isHostError } from './errors.ts';
export { isJsonObject } from './json.ts';
export type { Json, JsonObject } from './json.ts';
export { RUN_STATUSES } from './run-statuses.ts';
export { SCOPES } from './scopes.ts';
export { STREAM_MODES } from './stream-mode-names.ts';
export type { StreamMode } from './stream-mode-names.ts';
export { parseStrictJson } from './strict-json.ts';
