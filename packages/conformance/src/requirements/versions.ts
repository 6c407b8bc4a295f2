import type { RequirementTable } from './requirement.ts';

export const VERSIONS_REQUIREMENTS = {} as const satisfies RequirementTable;
