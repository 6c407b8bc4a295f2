import type { Mutant } from './mutant.ts';

export const CHILDREN_MUTANTS: readonly Mutant[] = [];
