import type { RequirementTable } from './requirement.ts';

export const AUTH_REQUIREMENTS = {} as const satisfies RequirementTable;
