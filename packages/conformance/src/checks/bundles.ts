import type { Check } from '../suite/check.ts';

export const BUNDLES_CHECKS: readonly Check[] = [];
