import type { RequirementTable } from './requirement.ts';

export const LIMITS_REQUIREMENTS = {} as const satisfies RequirementTable;
