import type { Check } from '../suite/check.ts';

export const TRANSPORT_CHECKS: readonly Check[] = [];
