import type { Mutant } from './mutant.ts';

export const LIMITS_MUTANTS: readonly Mutant[] = [];
