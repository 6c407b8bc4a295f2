import type { RequirementTable } from './requirement.ts';

export const STREAMS_REQUIREMENTS = {} as const satisfies RequirementTable;
