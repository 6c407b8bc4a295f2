import type { Check } from '../suite/check.ts';

export const INTERRUPTS_CHECKS: readonly Check[] = [];
