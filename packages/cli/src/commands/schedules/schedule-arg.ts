import type { ArgsDef } from 'citty';

/** A schedule, wherever a command takes one. */
export const SCHEDULE_ARG = {
  type: 'positional',
  description: 'Name, as in weft schedules ls',
  required: true,
} as const satisfies ArgsDef[string];
