import type { RequirementTable } from './requirement.ts';

export const ORCHESTRATION_REQUIREMENTS = {} as const satisfies RequirementTable;
