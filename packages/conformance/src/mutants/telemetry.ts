import type { Mutant } from './mutant.ts';

export const TELEMETRY_MUTANTS: readonly Mutant[] = [];
