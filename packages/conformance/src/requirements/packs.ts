import type { RequirementTable } from './requirement.ts';

export const PACKS_REQUIREMENTS = {} as const satisfies RequirementTable;
