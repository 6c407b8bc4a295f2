import type { Check } from '../suite/check.ts';

export const AUTH_CHECKS: readonly Check[] = [];
