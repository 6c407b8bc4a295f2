import type { Mutant } from './mutant.ts';

export const MEMORY_MUTANTS: readonly Mutant[] = [];
