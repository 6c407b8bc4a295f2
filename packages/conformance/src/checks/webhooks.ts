import type { Check } from '../suite/check.ts';

export const WEBHOOKS_CHECKS: readonly Check[] = [];
