import type { Check } from '../suite/check.ts';

export const CONVERSATIONS_CHECKS: readonly Check[] = [];
