import type { Mutant } from './mutant.ts';

export const IDEMPOTENCY_MUTANTS: readonly Mutant[] = [];
