import type { Mutant } from './mutant.ts';

export const PEERS_MUTANTS: readonly Mutant[] = [];
