import type { Check } from '../suite/check.ts';

export const AUDIT_CHECKS: readonly Check[] = [];
