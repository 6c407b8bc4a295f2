import type { Check } from '../suite/check.ts';

export const DIFF_CHECKS: readonly Check[] = [];
