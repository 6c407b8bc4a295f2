import type { Check } from '../../suite/check.ts';
import { STREAM_ACCESS_CHECKS } from './access.ts';
import { STREAM_BUFFER_CHECKS } from './buffered.ts';
import { STREAM_MODE_CHECKS } from './modes.ts';
import { STREAM_RESUME_CHECKS } from './resumed.ts';
import { STREAM_UPDATE_CHECKS } from './updates.ts';

export const STREAMS_CHECKS: readonly Check[] = [
  ...STREAM_UPDATE_CHECKS,
  ...STREAM_MODE_CHECKS,
  ...STREAM_RESUME_CHECKS,
  ...STREAM_BUFFER_CHECKS,
  ...STREAM_ACCESS_CHECKS,
];
