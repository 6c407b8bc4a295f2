import type { Mutant } from './mutant.ts';

export const ERRORS_MUTANTS: readonly Mutant[] = [];
