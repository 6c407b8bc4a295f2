import type { RequirementTable } from './requirement.ts';

export const FORKS_REQUIREMENTS = {} as const satisfies RequirementTable;
