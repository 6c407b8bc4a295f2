export { DEFAULT_LIMITS, type Limits } from './limits.ts';
export { readRun, type ReadOptions } from './read-run.ts';
export { outputConflict, writeOutput } from './write-output.ts';
