import type { Check } from '../suite/check.ts';

export const AGENTS_CHECKS: readonly Check[] = [];
