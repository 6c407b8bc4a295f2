import type { RequirementTable } from './requirement.ts';

export const BUNDLES_REQUIREMENTS = {} as const satisfies RequirementTable;
