import type { Mutant } from './mutant.ts';

export const EVENTS_MUTANTS: readonly Mutant[] = [];
