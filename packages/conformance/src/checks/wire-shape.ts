import type { Check } from '../suite/check.ts';

export const WIRE_SHAPE_CHECKS: readonly Check[] = [];
