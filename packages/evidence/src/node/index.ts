export { readRun, type ReadOptions } from './read-run.ts';
export { DEFAULT_LIMITS, type Limits } from './limits.ts';
