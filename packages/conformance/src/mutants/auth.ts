import type { Mutant } from './mutant.ts';

export const AUTH_MUTANTS: readonly Mutant[] = [];
