import type { Check } from '../suite/check.ts';

export const FORKS_CHECKS: readonly Check[] = [];
