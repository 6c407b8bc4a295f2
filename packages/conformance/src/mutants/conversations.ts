import type { Mutant } from './mutant.ts';

export const CONVERSATIONS_MUTANTS: readonly Mutant[] = [];
