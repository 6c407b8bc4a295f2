import type { Mutant } from './mutant.ts';

export const ORCHESTRATION_MUTANTS: readonly Mutant[] = [];
