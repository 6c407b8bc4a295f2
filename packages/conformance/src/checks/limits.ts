import type { Check } from '../suite/check.ts';

export const LIMITS_CHECKS: readonly Check[] = [];
