import type { Check } from '../suite/check.ts';

export const IDEMPOTENCY_CHECKS: readonly Check[] = [];
