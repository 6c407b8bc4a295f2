import type { Mutant } from './mutant.ts';

export const ANNOTATIONS_MUTANTS: readonly Mutant[] = [];
