import type { RequirementTable } from './requirement.ts';

export const AGENTS_REQUIREMENTS = {} as const satisfies RequirementTable;
