import type { RequirementTable } from './requirement.ts';

export const DISCOVERY_REQUIREMENTS = {} as const satisfies RequirementTable;
