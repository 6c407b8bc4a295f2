import type { Mutant } from './mutant.ts';

export const WEBHOOKS_MUTANTS: readonly Mutant[] = [];
