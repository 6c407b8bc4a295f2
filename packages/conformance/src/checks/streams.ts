import type { Check } from '../suite/check.ts';

export const STREAMS_CHECKS: readonly Check[] = [];
