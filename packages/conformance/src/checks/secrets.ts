import type { Check } from '../suite/check.ts';

export const SECRETS_CHECKS: readonly Check[] = [];
