import type { Check } from '../suite/check.ts';

export const PACKS_CHECKS: readonly Check[] = [];
