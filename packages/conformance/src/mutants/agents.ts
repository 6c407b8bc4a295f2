import type { Mutant } from './mutant.ts';

export const AGENTS_MUTANTS: readonly Mutant[] = [];
