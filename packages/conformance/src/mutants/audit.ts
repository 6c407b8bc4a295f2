import type { Mutant } from './mutant.ts';

export const AUDIT_MUTANTS: readonly Mutant[] = [];
