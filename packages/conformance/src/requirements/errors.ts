import type { RequirementTable } from './requirement.ts';

export const ERRORS_REQUIREMENTS = {} as const satisfies RequirementTable;
