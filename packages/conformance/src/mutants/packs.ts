import type { Mutant } from './mutant.ts';

export const PACKS_MUTANTS: readonly Mutant[] = [];
