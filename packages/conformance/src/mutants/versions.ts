import type { Mutant } from './mutant.ts';

export const VERSIONS_MUTANTS: readonly Mutant[] = [];
