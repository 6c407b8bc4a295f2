import type { Mutant } from './mutant.ts';

export const DISCOVERY_MUTANTS: readonly Mutant[] = [];
