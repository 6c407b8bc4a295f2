import type { Check } from '../suite/check.ts';

export const PROCESSES_CHECKS: readonly Check[] = [];
