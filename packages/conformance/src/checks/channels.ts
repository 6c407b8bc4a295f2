import type { Check } from '../suite/check.ts';

export const CHANNELS_CHECKS: readonly Check[] = [];
