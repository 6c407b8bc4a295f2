import type { Mutant } from './mutant.ts';

export const STREAMS_MUTANTS: readonly Mutant[] = [];
