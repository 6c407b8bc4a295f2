import type { RequirementTable } from './requirement.ts';

export const DIFF_REQUIREMENTS = {} as const satisfies RequirementTable;
