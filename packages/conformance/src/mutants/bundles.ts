import type { Mutant } from './mutant.ts';

export const BUNDLES_MUTANTS: readonly Mutant[] = [];
