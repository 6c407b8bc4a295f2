import type { RequirementTable } from './requirement.ts';

export const CHANNELS_REQUIREMENTS = {} as const satisfies RequirementTable;
