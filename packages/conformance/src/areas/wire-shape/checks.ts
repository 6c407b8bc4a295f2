import type { Check } from '../../suite/check.ts';
import { CORPUS_CHECKS } from './corpus.ts';
import { DOCUMENT_CHECKS } from './documents.ts';
import { LIVE_SHAPE_CHECKS } from './live.ts';
import { SCHEMA_CHECKS } from './schemas.ts';

export const WIRE_SHAPE_CHECKS: readonly Check[] = [
  ...SCHEMA_CHECKS,
  ...CORPUS_CHECKS,
  ...DOCUMENT_CHECKS,
  ...LIVE_SHAPE_CHECKS,
];
