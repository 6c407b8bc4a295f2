import type { Mutant } from './mutant.ts';

export const DIFF_MUTANTS: readonly Mutant[] = [];
