import type { Check } from '../suite/check.ts';

export const VERSIONS_CHECKS: readonly Check[] = [];
