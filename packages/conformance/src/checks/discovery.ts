import type { Check } from '../suite/check.ts';

export const DISCOVERY_CHECKS: readonly Check[] = [];
