import type { RequirementTable } from './requirement.ts';

export const PROCESSES_REQUIREMENTS = {} as const satisfies RequirementTable;
