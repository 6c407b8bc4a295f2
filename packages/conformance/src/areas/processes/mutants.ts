import type { Mutant } from '../../mutants/mutant.ts';

export const PROCESSES_MUTANTS: readonly Mutant[] = [];
