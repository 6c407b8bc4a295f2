import type { Mutant } from './mutant.ts';

export const INTERRUPTS_MUTANTS: readonly Mutant[] = [];
