import type { RequirementTable } from './requirement.ts';

export const POLLING_REQUIREMENTS = {} as const satisfies RequirementTable;
