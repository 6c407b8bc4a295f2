import type { Check } from '../suite/check.ts';

export const POLLING_CHECKS: readonly Check[] = [];
