import type { Mutant } from './mutant.ts';

export const SECRETS_MUTANTS: readonly Mutant[] = [];
