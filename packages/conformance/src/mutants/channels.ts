import type { Mutant } from './mutant.ts';

export const CHANNELS_MUTANTS: readonly Mutant[] = [];
