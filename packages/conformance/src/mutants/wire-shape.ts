import type { Mutant } from './mutant.ts';

export const WIRE_SHAPE_MUTANTS: readonly Mutant[] = [];
