import type { RequirementTable } from './requirement.ts';

export const EVENTS_REQUIREMENTS = {} as const satisfies RequirementTable;
