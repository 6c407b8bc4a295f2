import type { ArgsDef } from 'citty';

/** A webhook trigger, wherever a command takes one. */
export const TRIGGER_ARG = {
  type: 'positional',
  description: 'Trigger id, as in weft triggers ls',
  required: true,
} as const satisfies ArgsDef[string];
