import type { Check } from '../suite/check.ts';

export const ERRORS_CHECKS: readonly Check[] = [];
