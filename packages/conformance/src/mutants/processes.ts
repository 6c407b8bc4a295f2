import type { Mutant } from './mutant.ts';

export const PROCESSES_MUTANTS: readonly Mutant[] = [];
