import type { Mutant } from './mutant.ts';

export const POLLING_MUTANTS: readonly Mutant[] = [];
