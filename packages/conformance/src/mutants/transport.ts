import type { Mutant } from './mutant.ts';

export const TRANSPORT_MUTANTS: readonly Mutant[] = [];
