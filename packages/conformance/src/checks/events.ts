import type { Check } from '../suite/check.ts';

export const EVENTS_CHECKS: readonly Check[] = [];
