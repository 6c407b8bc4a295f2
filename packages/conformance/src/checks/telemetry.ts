import type { Check } from '../suite/check.ts';

export const TELEMETRY_CHECKS: readonly Check[] = [];
