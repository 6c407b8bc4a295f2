import type { Check } from '../suite/check.ts';

export const PEERS_CHECKS: readonly Check[] = [];
