import type { Mutant } from './mutant.ts';

export const FORKS_MUTANTS: readonly Mutant[] = [];
