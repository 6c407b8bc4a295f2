import type { Check } from '../suite/check.ts';

export const MEMORY_CHECKS: readonly Check[] = [];
