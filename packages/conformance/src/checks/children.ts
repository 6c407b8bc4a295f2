import type { Check } from '../suite/check.ts';

export const CHILDREN_CHECKS: readonly Check[] = [];
