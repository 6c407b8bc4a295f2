import type { Check } from '../suite/check.ts';
import { CORPUS_CHECKS } from './wire-shape-corpus.ts';
import { LIVE_SHAPE_CHECKS } from './wire-shape-live.ts';
import { SCHEMA_CHECKS } from './wire-shape-schemas.ts';

export const WIRE_SHAPE_CHECKS: readonly Check[] = [...SCHEMA_CHECKS, ...CORPUS_CHECKS, ...LIVE_SHAPE_CHECKS];
