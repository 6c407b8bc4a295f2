import type { Check } from '../suite/check.ts';

export const ORCHESTRATION_CHECKS: readonly Check[] = [];
