import type { Check } from '../suite/check.ts';

export const ANNOTATIONS_CHECKS: readonly Check[] = [];
