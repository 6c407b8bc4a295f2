import type { RequirementTable } from './requirement.ts';

export const MEMORY_REQUIREMENTS = {} as const satisfies RequirementTable;
