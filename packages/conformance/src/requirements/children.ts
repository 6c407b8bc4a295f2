import type { RequirementTable } from './requirement.ts';

export const CHILDREN_REQUIREMENTS = {} as const satisfies RequirementTable;
